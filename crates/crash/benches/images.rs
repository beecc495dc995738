//! Images a second with a check in the same process, which reads 64 bytes of each.
#![allow(missing_docs)]

use std::hint::black_box;
use std::ops::ControlFlow;

use divan::Bencher;
use divan::counter::ItemsCount;
use prestore_crash::{Domain, Log, Survivors};

const IMAGES: u64 = 10_000;

fn main() {
    divan::main();
}

/// Transactions that store to 16 lines anywhere in memory, flush them, and fence.
fn transactions(bytes: u64) -> Log {
    let mut log = Log::new(vec![0; bytes as usize]);
    let lines = bytes / 64;
    for number in 1..=2000u64 {
        let place = |i: u64| (number * 7919 + i * 104_729) % lines * 64;
        for i in 0..16 {
            log.store(place(i), &number.to_le_bytes());
        }
        for i in 0..16 {
            log.flush(place(i));
        }
        log.fence();
    }
    log
}

#[divan::bench(args = [64 << 10, 64 << 20])]
fn random(bencher: Bencher, bytes: u64) {
    let log = transactions(bytes);
    bencher
        .counter(ItemsCount::new(IMAGES))
        .with_inputs(|| Survivors::new(&log, Domain::Adr))
        .bench_values(|mut survivors| {
            survivors.random::<()>(IMAGES, 1, |image| {
                let first = image.bytes().first_chunk::<64>();
                black_box(first.map(|b| b.iter().map(|b| u32::from(*b)).sum::<u32>()));
                ControlFlow::Continue(())
            })
        });
}
