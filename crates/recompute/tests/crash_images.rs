//! Never wrong: from any image that a power cut may leave, also one during recovery, the loop comes to the very bits of
//! the run that nothing interrupted.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::ops::ControlFlow;

use common::{Recorder, survivors_log};
use prestore_crash::{CrashImage, Domain, Log, Survivors};
use prestore_recompute::kernels::{
    Convolution, Fft, Gauss, Gemm, Granularity, Lu, Packing, Persistence, Tmm, Variant,
};
use prestore_recompute::{Kernel, Memory, Options, Scheme, Session};

/// Images a kernel and scheme; `make crash-long` asks for more.
fn images() -> u64 {
    std::env::var("PRESTORE_CRASH_IMAGES").map_or(10_000, |count| count.parse().unwrap())
}

/// Runs the loop on what is there, with a log; the log and the result.
fn logged<K: Kernel>(kernel: &K, options: Options, before: &[u8], result: usize) -> (Log, Vec<u8>) {
    let recorder = Recorder::on(Memory::of(before));
    let mut session = Session::open(kernel, &recorder, options, "log").unwrap();
    session.run().unwrap();
    let bytes = session.read(result);
    drop(session);
    (survivors_log(before, &recorder.into_events()), bytes)
}

/// The adversarial images (all that waits is lost, kept, every second line, each line alone), up to half of so many,
/// then as many by chance as there are; how many in all.
fn each_image(log: &Log, most: u64, mut check: impl FnMut(&CrashImage<'_>)) -> u64 {
    let mut survivors = Survivors::new(log, Domain::Adr);
    let mut go_on = |image: &CrashImage<'_>| {
        check(image);
        ControlFlow::<()>::Continue(())
    };
    let first = survivors.systematic(most / 2, &mut go_on).images;
    first + survivors.random(most - first, 1, &mut go_on).images
}

/// Images of one loop: of the whole run, and of recoveries.
fn check<K: Kernel>(kernel: &K, result: usize, scheme: Scheme, workers: usize, most: u64) -> u64 {
    let options = Options { scheme, workers };
    let blank = vec![0; Session::<K, Memory>::needs(kernel, options).unwrap()];
    let (log, expected) = logged(kernel, options, &blank, result);
    let mut memory = Memory::new(blank.len());
    let mut recover = |image: &CrashImage<'_>, which: &str| {
        memory.fill(image.bytes());
        let mut session = Session::open(kernel, &memory, options, "image").unwrap();
        session.run().unwrap();
        let got: Vec<u8> = session.read(result);
        assert!(
            got == expected,
            "{scheme}, {workers} workers: wrong after the {which} {:?}",
            image.place()
        );
    };
    let mut again = Vec::new();
    let first = each_image(&log, most, |image| {
        recover(image, "cut");
        if image.number().is_multiple_of(most / 20 + 1) {
            again.push(image.bytes().to_vec());
        }
    });
    // The power fails again while the loop recovers.
    let second: u64 = again
        .iter()
        .map(|before| {
            let (log, got) = logged(kernel, options, before, result);
            assert!(got == expected);
            each_image(&log, most / 40, |image| recover(image, "second cut"))
        })
        .sum();
    first + second
}

fn all_schemes<K: Kernel>(kernel: &K, result: usize) {
    let fresh = kernel.nest().dependence == prestore_recompute::Dependence::Fresh;
    let mut summary = String::new();
    for scheme in [
        "none", "CP", "CPall2", "L", "R", "HRx2", "HRx3", "HRx32", "HRx64",
    ] {
        let scheme: Scheme = scheme.parse().unwrap();
        if fresh && matches!(scheme, Scheme::Hybrid { .. }) {
            continue;
        }
        let tried = check(kernel, result, scheme, 1, images())
            + check(kernel, result, scheme, 2, images() / 25);
        summary += &format!(" {scheme} {tried}");
    }
    println!("{}:{summary} images, none wrong", kernel.nest().name);
}

#[test]
fn tiled_matrix_multiply_by_panels() {
    all_schemes(&Tmm::new(8, 2, Granularity::Ii), Tmm::RESULT);
}

#[test]
fn tiled_matrix_multiply_by_tiles() {
    all_schemes(&Tmm::new(8, 2, Granularity::Jj), Tmm::RESULT);
}

#[test]
fn gauss_elimination() {
    all_schemes(&Gauss::new(7, 2), Gauss::RESULT);
    all_schemes(&Gauss::new(6, 6), Gauss::RESULT);
}

#[test]
fn lu_decomposition() {
    all_schemes(&Lu::new(8, 2), Lu::RESULT);
}

#[test]
fn fourier_transform() {
    all_schemes(&Fft::new(4, 1), Fft::RESULT);
}

#[test]
fn convolution() {
    let kernel = Convolution::new(6, 2, 4);
    all_schemes(&kernel, kernel.result());
}

/// Under Recompute, as P4 has them.
#[test]
fn gemm() {
    for variant in Variant::ALL {
        for persistence in [Persistence::Eager, Persistence::Lazy] {
            for packing in [Packing::On, Packing::Off] {
                let kernel = Gemm::new(variant, 6, 2, packing, persistence);
                let tried = check(&kernel, Gemm::RESULT, Scheme::Recompute, 1, images())
                    + check(&kernel, Gemm::RESULT, Scheme::Recompute, 2, images() / 50);
                println!("{}: {tried} images, none wrong", kernel.nest().name);
            }
        }
    }
}
