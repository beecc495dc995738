//! Threads that load the same lines, which no cache has: each waits for what is on its way to another.

use prestore_machine::Machine;
use prestore_sim::OpKind;

use crate::source::run;

/// Cycles that `threads` threads take for the same lines in the same order.
fn cycles(settings: &[&str], threads: u32) -> f64 {
    let machine = Machine::find_with("machine-a", settings).unwrap();
    let results = run(&machine, threads, |_, i| {
        (i < 6000).then_some((OpKind::Load, i * 4160, 8))
    });
    results.cycles as f64
}

#[test]
fn sharing_cold_lines_makes_nobody_faster() {
    for settings in [&[][..], &["core.prefetch.stride_streams=0"]] {
        let alone = cycles(settings, 1);
        for threads in [2, 4, 8] {
            let shared = cycles(settings, threads);
            assert!(shared > 0.97 * alone, "{threads}: {shared} against {alone}");
        }
    }
}
