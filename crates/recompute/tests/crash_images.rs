//! Never wrong: from any image that a power cut may leave, also one during recovery, the loop comes to the very bits of
//! the run that nothing interrupted.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Crash, Event, Log, Random};
use prestore_recompute::kernels::{
    Convolution, Fft, Gauss, Gemm, Granularity, Lu, Packing, Persistence, Tmm, Variant,
};
use prestore_recompute::{Kernel, Memory, Options, Scheme, Session};

/// Images a kernel and scheme; `make crash-long` asks for more.
fn images() -> usize {
    std::env::var("PRESTORE_CRASH_IMAGES").map_or(10_000, |count| count.parse().unwrap())
}

/// Runs the loop on what is there, with a log; the log and the result.
fn logged<K: Kernel>(
    kernel: &K,
    options: Options,
    before: &[u8],
    result: usize,
) -> (Vec<Event>, Vec<u8>) {
    let log = Log::on(Memory::of(before));
    let mut session = Session::open(kernel, &log, options, "log").unwrap();
    session.run().unwrap();
    let bytes = session.read(result);
    drop(session);
    (log.into_events(), bytes)
}

/// At most so many events, evenly chosen, with how many images to take behind each.
fn plan(events: usize, images: usize) -> impl Fn(usize) -> usize {
    move |event| (event + 1) * images / events - event * images / events
}

fn check<K: Kernel>(
    kernel: &K,
    result: usize,
    scheme: Scheme,
    workers: usize,
    images: usize,
) -> usize {
    let options = Options { scheme, workers };
    let blank = vec![0; Session::<K, Memory>::needs(kernel, options).unwrap()];
    let (events, expected) = logged(kernel, options, &blank, result);
    let mut random = Random(1);
    let mut memory = Memory::new(blank.len());
    let (mut tried, mut again) = (0, Vec::new());
    let mut crash = Crash::before(&blank);
    let count = plan(events.len(), images);
    let mut recover = |image: &[u8], what: &str| {
        memory.fill(image);
        let mut session = Session::open(kernel, &memory, options, "image").unwrap();
        session.run().unwrap();
        let got: Vec<u8> = session.read(result);
        assert!(
            got == expected,
            "{scheme}, {workers} workers: wrong after {what}"
        );
    };
    for (number, event) in events.iter().enumerate() {
        crash.pass(event);
        for _ in 0..count(number) {
            let kind = tried % Crash::KINDS;
            let image = crash.image(kind, &mut random);
            recover(
                &image,
                &format!("a power cut behind event {number}, image {kind}"),
            );
            tried += 1;
            if tried.is_multiple_of(images / 20 + 1) {
                again.push(image);
            }
        }
    }
    // The power fails again while the loop recovers.
    for first in again {
        let (events, got) = logged(kernel, options, &first, result);
        assert!(got == expected);
        let mut crash = Crash::before(&first);
        let count = plan(events.len(), images / 40);
        for (number, event) in events.iter().enumerate() {
            crash.pass(event);
            for _ in 0..count(number) {
                let kind = tried % Crash::KINDS;
                recover(
                    &crash.image(kind, &mut random),
                    &format!("a second cut behind event {number}, image {kind}"),
                );
                tried += 1;
            }
        }
    }
    tried
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
