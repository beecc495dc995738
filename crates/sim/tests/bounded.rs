//! Memory depends on the machine, not on the length of the trace. Alone in its binary, because it
//! counts all allocations.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "simulation/source.rs"]
#[allow(dead_code)]
mod source;

use prestore_machine::Machine;
use prestore_sim::{
    Mechanism, NoMechanism, OpKind, PreStore, Results, Rule, SHARED_LOCK, Simulation,
    VirtualPrestores,
};
use prestore_trace::{FlushKind, SiteId};
use std::sync::{Mutex, PoisonError};

use source::{Program, tiny};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Held while something is counted.
static ALONE: Mutex<()> = Mutex::new(());

/// Most bytes held at once while two threads execute `n` operations of a formula each.
fn peak(
    machine: &Machine,
    mechanism: &mut impl Mechanism,
    n: u64,
    of: impl Fn(u32, u64) -> (OpKind, u64, u32),
) -> (usize, Results) {
    let _profiler = dhat::Profiler::builder().testing().build();
    let mut program = Program::new(2, |thread, i| (i < n).then(|| of(thread, i)));
    let results = Simulation::new(machine)
        .run(&mut program, mechanism)
        .unwrap();
    (dhat::HeapStats::get().max_bytes, results)
}

/// Each line once.
fn stream(thread: u32, i: u64) -> (OpKind, u64, u32) {
    let addr = (u64::from(thread) << 40) + i / 4 * 64;
    match i % 4 {
        0 => (OpKind::Load, addr + (1 << 30), 8),
        1 => (OpKind::Store, addr, 16),
        2 => (OpKind::Flush(FlushKind::Clwb), addr, 0),
        _ => (OpKind::NtStore, addr + (2 << 30), 16),
    }
}

/// The same, with a hand-off there and back, a lock that excludes and one that is shared.
fn together(thread: u32, i: u64) -> (OpKind, u64, u32) {
    let (round, step) = (i / 16, i % 16);
    let own = 2 * round + u64::from(thread);
    let others = 2 * round + u64::from(1 - thread);
    match step {
        12 => (OpKind::HandOff, own, 0),
        13 => (OpKind::Await, others, 0),
        2 => (OpKind::Acquire, 7, 0),
        8 => (OpKind::Release, 7, 0),
        9 => (OpKind::Acquire, 8 | SHARED_LOCK, 0),
        11 => (OpKind::Release, 8, 0),
        // Numbered without those in between, so that the lines of a page follow one another and a prefetcher sees a stream.
        _ => {
            let between = [2, 8, 9, 11, 12, 13].iter().filter(|&&other| other < step);
            stream(thread, 10 * round + step - between.count() as u64)
        }
    }
}

/// `run` simulates so many operations of each thread; ten times as many take no more. Answers the results of those.
#[track_caller]
fn bounded(ops: u64, run: impl Fn(u64) -> (usize, Results)) -> Results {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ((short, _), (long, results)) = (run(ops), run(10 * ops));
    // Were a byte kept for each operation more, it would show.
    let more = long.saturating_sub(short) as u64;
    assert!(
        more < 9 * ops,
        "{short} bytes, and {more} more for ten times as many operations"
    );
    assert!(results.accesses > 4 * ops, "{}", results.accesses);
    assert!(results.notes.is_empty(), "{:?}", results.notes);
    results
}

#[test]
fn a_longer_trace_takes_no_more_memory() {
    let machine = tiny(&[]);
    bounded(40_000, |n| peak(&machine, &mut NoMechanism, n, stream));
}

/// Optane DIMMs, prefetchers, hand-offs, locks and a mechanism, each of which has much to do.
#[test]
fn nor_does_one_of_threads_that_wait_for_each_other() {
    const OPS: u64 = 60_000;
    let machine = Machine::find("machine-a").unwrap();
    let results = bounded(OPS, |n| {
        let rule = Rule::new(vec![SiteId::NONE], PreStore::Clean);
        let mut advised = VirtualPrestores::new("advised", 64, &[rule]);
        peak(&machine, &mut advised, n, together)
    });
    let found = &results.flushes;
    // The program's own are a quarter of ten of sixteen operations of each thread.
    let added = found.dirty + found.clean + found.absent - 2 * 10 * OPS * 10 / 16 / 4;
    for (what, times) in [
        ("lines that a prefetcher fetched", results.prefetches.stride),
        ("prefetched lines asked for", results.prefetches.useful),
        ("cleans by the mechanism", added),
        ("units that Optane read first", results.read_modify_writes),
        ("cycles behind hand-offs", results.stalls["await"]),
        ("cycles behind locks", results.stalls["lock"]),
    ] {
        assert!(times > OPS / 4, "{what}: {times}");
    }
}
