//! Memory depends on the machine, not on the length of the trace. Alone in its binary, because it
//! counts all allocations.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "simulation/source.rs"]
#[allow(dead_code)]
mod source;

use prestore_sim::OpKind;
use prestore_trace::FlushKind;

use source::{run, tiny};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Most bytes held at once while `n` operations are simulated on two cores.
fn peak(n: u64) -> usize {
    let machine = tiny(&[]);
    let _profiler = dhat::Profiler::builder().testing().build();
    run(&machine, 2, |thread, i| {
        let addr = (u64::from(thread) << 40) + i / 4 * 64;
        (i < n).then_some(match i % 4 {
            0 => (OpKind::Load, addr + (1 << 30), 8),
            1 => (OpKind::Store, addr, 16),
            2 => (OpKind::Flush(FlushKind::Clwb), addr, 0),
            _ => (OpKind::NtStore, addr + (2 << 30), 16),
        })
    });
    dhat::HeapStats::get().max_bytes
}

#[test]
fn a_longer_trace_takes_no_more_memory() {
    let short = peak(20_000);
    let long = peak(400_000);
    assert!(
        long < short + short / 4,
        "{short} bytes, and {long} for twenty times as many operations"
    );
}
