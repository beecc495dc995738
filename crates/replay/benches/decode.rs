//! How fast recordings become operations, and how fast hand-offs are found.
//!
//! `PRESTORE_BENCH_TRACE=DIR cargo bench -p prestore-replay` reads a recording, whose figures it
//! prints once; without it there is nothing to measure.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use divan::counter::ItemsCount;
use prestore_replay::{HandOffs, Options, TraceSource};
use prestore_sim::{Next, Op, Source};
use prestore_trace::container::Trace;

fn main() {
    if let Some(trace) = recording() {
        let start = Instant::now();
        let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
        let inferred = start.elapsed();
        let ops = all(&trace, Arc::new(hand_offs.clone()));
        println!(
            "{ops} operations, hand-offs in {inferred:?}: {:?}",
            hand_offs.counts()
        );
        divan::main();
    } else {
        println!("no PRESTORE_BENCH_TRACE: nothing to read");
    }
}

fn recording() -> Option<Trace> {
    let dir = PathBuf::from(std::env::var_os("PRESTORE_BENCH_TRACE")?);
    Some(Trace::open(&dir).unwrap())
}

/// Reads all operations, some of each thread in turn as the simulator does.
fn all(trace: &Trace, hand_offs: Arc<HandOffs>) -> usize {
    let mut source = TraceSource::with_hand_offs(trace, &Options::default(), hand_offs).unwrap();
    let mut running: Vec<u32> = (0..source.threads()).collect();
    let (mut ops, mut total) = (Vec::<Op>::new(), 0);
    while !running.is_empty() {
        running.retain(|&thread| {
            ops.clear();
            let next = source.fill(thread, &mut ops).unwrap();
            total += divan::black_box(&ops).len();
            next == Next::More
        });
    }
    total
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn operations(bencher: divan::Bencher<'_, '_>) {
    let trace = recording().unwrap();
    let hand_offs = Arc::new(HandOffs::infer(&trace, &Options::default()).unwrap());
    let total = all(&trace, hand_offs.clone());
    bencher
        .counter(ItemsCount::new(total))
        .bench(|| all(&trace, hand_offs.clone()));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn infer(bencher: divan::Bencher<'_, '_>) {
    let trace = recording().unwrap();
    let events = trace.manifest().totals.events.accesses();
    bencher
        .counter(ItemsCount::new(events))
        .bench(|| HandOffs::infer(&trace, &Options::default()).unwrap());
}
