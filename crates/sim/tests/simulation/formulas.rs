//! Times and bytes that can be said beforehand.

use prestore_sim::OpKind;
use prestore_trace::FlushKind;

use crate::source::{STRIDE, read_lines, run, tiny};

/// Lines read or written, many times the caches.
const N: u64 = 20_000;

#[track_caller]
fn assert_near(what: f64, expected: f64, tolerance: f64) {
    let off = (what / expected - 1.0).abs();
    assert!(
        off <= tolerance,
        "{what} is not {expected} (off by {off:.4})"
    );
}

#[test]
fn in_order_reads_take_one_latency_after_the_other() {
    let machine = tiny(&["core.rob=0"]);
    let results = run(&machine, 1, read_lines(N));
    assert_eq!(results.memories[0].read_latency.count, N);
    // A miss is known after the last level's 10 cycles, at 1 GHz.
    let one = results.memories[0].read_latency.mean_ns + 10.0;
    let dispatch = STRIDE as f64;
    assert_near(results.cycles as f64, N as f64 * (one + dispatch), 0.05);
    assert!(results.cycles as f64 >= N as f64 * one);
}

#[test]
fn reads_overlap_as_far_as_there_are_fill_buffers() {
    // A window that never fills, a memory that is never busy.
    let fast = [
        "core.rob=100000",
        "memories.dram.device.bandwidth=\"10000 GB/s\"",
    ];
    for buffers in [1, 2, 4] {
        let set = format!("core.fill_buffers={buffers}");
        let machine = tiny(&[fast[0], fast[1], &set]);
        let results = run(&machine, 1, read_lines(N));
        let one = results.memories[0].read_latency.mean_ns + 10.0;
        // Little's law.
        assert_near(
            results.cycles as f64,
            N as f64 * one / f64::from(buffers),
            0.03,
        );
    }
}

#[test]
fn reads_are_no_faster_than_the_bus() {
    let machine = tiny(&[
        "core.rob=100000",
        "core.fill_buffers=64",
        "memories.dram.controller.read_queue=64",
        "memories.dram.device.banks=64",
    ]);
    let results = run(&machine, 1, read_lines(N));
    // 16 GB/s: 4 ns a line.
    assert_near(results.seconds, N as f64 * 4e-9, 0.03);
}

#[test]
fn every_line_stored_is_written_back_once() {
    let machine = tiny(&[]);
    let results = run(&machine, 1, |_, i| {
        (i < 8 * N).then(|| (OpKind::Store, i * 8, 8))
    });
    let cached = machine.caches[1].size.0;
    let written = results.memories[0].write_bytes;
    assert!(written <= 64 * N && written >= 64 * N - cached, "{written}");
    assert_eq!(written % 64, 0);
    assert_eq!(results.bytes["L2_to_memory"], written);
    assert_eq!(results.bytes["memory_to_L2"], 64 * N);
    assert_eq!(results.accesses, 8 * N);
}

#[test]
fn cleaned_lines_are_all_written_and_not_twice() {
    let machine = tiny(&[]);
    let results = run(&machine, 1, |_, i| {
        let line = i / 2 * 64;
        (i < 2 * N).then_some(match i % 2 {
            0 => (OpKind::Store, line, 8),
            _ => (OpKind::Flush(FlushKind::Clwb), line, 0),
        })
    });
    // Whole lines, although 8 bytes of each were dirty.
    assert_eq!(results.memories[0].write_bytes, 64 * N);
    let f = results.flushes;
    assert_eq!((f.dirty, f.clean, f.absent), (N, 0, 0));
    assert_eq!(results.threads[0].ops.flushes, N);
}

#[test]
fn non_temporal_bytes_are_counted_as_they_are() {
    let machine = tiny(&[]);
    let results = run(&machine, 1, |_, i| {
        (i < N).then(|| (OpKind::NtStore, i * 64, 16))
    });
    assert_eq!(results.memories[0].write_bytes, 16 * N);
    assert_eq!(results.memories[0].read_bytes, 0);
}

#[test]
fn threads_of_one_kind_take_the_same_time() {
    let machine = tiny(&["memories.dram.device.bandwidth=\"10000 GB/s\""]);
    let results = run(&machine, 2, read_lines(N));
    let [a, b] = &results.threads[..] else {
        panic!("two threads");
    };
    assert_near(a.cycles as f64, b.cycles as f64, 0.03);
}

#[test]
fn seeds_decide_all_that_is_random() {
    let machine = tiny(&["caches.L2.replacement=\"random\""]);
    let with = |seed| {
        let mut x = 1u64;
        let mut program = crate::source::Program::new(1, |_, i| {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (i < N).then_some((OpKind::Load, (x >> 40) % 512 * 64, 8))
        });
        prestore_sim::Simulation::new(&machine)
            .seed(seed)
            .run(&mut program, &mut prestore_sim::NoMechanism)
            .unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).cycles, with(2).cycles);
}
