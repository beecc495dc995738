//! Long rows of executions are taken in by what happens in them: what is found is what is found if something lies between any two
//! of them, so that there are no rows.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod synthetic;

use std::ops::Range;

use prestore_dirtbuster::{Analyzer, Thresholds};
use prestore_trace::FenceKind;
use prestore_trace::record::Special;
use proptest::prelude::*;
use synthetic::{Numbers, Program, everything};

/// Near the end of a page and of a region of 2 MB, so that arrays cross both.
const HEAP: u64 = 0x7f00_0020_0000 - 30 * 64;

/// A loop over some of three arrays, which may overlap.
#[derive(Clone, Debug)]
struct Sweep {
    thread: u32,
    block: usize,
    /// Where each array begins, in bytes.
    from: [u64; 3],
    times: u64,
    /// So many instructions pass amid it.
    pause: u64,
    /// It takes turns with the next one, each after so many executions.
    turns: Option<u64>,
}

fn sweep() -> impl Strategy<Value = Sweep> {
    // Whole lines or vectors or words, or any byte.
    let at = || prop_oneof![0..8u64, 0..200u64].prop_map(|line| line * 64);
    let off = || prop_oneof![4 => Just(0u64), 2 => (0..8u64).prop_map(|n| n * 8), 1 => 0..64u64];
    let from = || (at(), off()).prop_map(|(at, off)| at + off);
    let times = prop_oneof![1..12u64, 8..500u64];
    let pause = prop_oneof![3 => Just(0u64), 1 => 50..200u64];
    let turns = prop::option::weighted(0.2, 5..40u64);
    let what = (0..2u32, 0..BLOCKS, [from(), from(), from()]);
    (what, times, pause, turns).prop_map(|((thread, block, from), times, pause, turns)| Sweep {
        thread,
        block,
        from,
        times,
        pause,
        turns,
    })
}

const BLOCKS: usize = 26;

/// Each block, and by how much its values grow.
fn blocks(p: &mut Program) -> [(u32, [i64; 3]); BLOCKS] {
    [
        // One array is filled: by words, vectors, lines, and two lines at once.
        (p.block(1, 0).store(0, 0, 8).done(), [8, 0, 0]),
        (p.block(1, 10).store(0, 0, 32).done(), [32, 0, 0]),
        (p.block(1, 20).store(0, 0, 64).done(), [64, 0, 0]),
        (
            p.block(1, 30).store(0, 0, 64).store(0, 64, 64).done(),
            [128, 0, 0],
        ),
        // Down, and with gaps.
        (p.block(1, 40).store(0, 0, 16).done(), [-16, 0, 0]),
        (p.block(1, 50).store(0, 0, 8).done(), [24, 0, 0]),
        // In place.
        (
            p.block(2, 0).load(0, 0, 8).compute(3).store(0, 0, 8).done(),
            [8, 0, 0],
        ),
        (
            p.block(2, 10)
                .load(1, 0, 32)
                .load(0, 0, 32)
                .store(0, 0, 32)
                .done(),
            [32, 32, 0],
        ),
        (
            p.block(2, 20).load(0, 0, 64).store(0, 0, 64).done(),
            [64, 0, 0],
        ),
        // What was just written, and what is about to be.
        (
            p.block(3, 0)
                .load(0, -8, 8)
                .load(0, 8, 8)
                .store(0, 0, 8)
                .done(),
            [8, 0, 0],
        ),
        (
            p.block(3, 10).store(0, 0, 16).load(0, 8, 8).done(),
            [16, 0, 0],
        ),
        // A stencil, and a sum.
        (
            p.block(4, 0)
                .load(1, -32, 32)
                .load(1, 0, 32)
                .load(1, 32, 32)
                .load(1, 1024, 32)
                .store(0, 0, 32)
                .done(),
            [32, 32, 0],
        ),
        (
            p.block(4, 10).load(0, 0, 32).load(1, 0, 32).done(),
            [32, 32, 0],
        ),
        // Two arrays are written, one of them as fast as the other or not.
        (
            p.block(5, 0)
                .load(0, 0, 16)
                .load(1, 0, 16)
                .store(0, 0, 16)
                .store(1, 0, 16)
                .done(),
            [16, 16, 0],
        ),
        (
            p.block(5, 10)
                .load(2, 0, 8)
                .store(0, 0, 8)
                .store(1, 0, 32)
                .done(),
            [8, 32, 8],
        ),
        // Backwards through what is read, and a scalar.
        (
            p.block(6, 0)
                .load(1, 0, 16)
                .load(2, 0, 8)
                .store(0, 0, 16)
                .done(),
            [16, -16, 0],
        ),
        // Another function over the first ones' arrays, and many instructions.
        (
            p.block(7, 0)
                .load(0, 0, 32)
                .compute(2500)
                .store(0, 0, 32)
                .done(),
            [32, 0, 0],
        ),
        // Butterflies: loads stand behind stores to other arrays, or to their own.
        (
            p.block(9, 0)
                .load(1, 0, 8)
                .load(0, 0, 8)
                .store(1, 0, 8)
                .load(0, 0, 8)
                .store(0, 0, 8)
                .done(),
            [8, 8, 0],
        ),
        (
            p.block(9, 10)
                .load(2, 0, 16)
                .store(0, 0, 16)
                .load(2, 320, 16)
                .store(1, 0, 16)
                .done(),
            [16, 16, 16],
        ),
        (
            p.block(9, 20)
                .store(0, 0, 16)
                .load(0, -16, 16)
                .load(1, 0, 16)
                .store(1, 0, 32)
                .load(0, 64, 16)
                .done(),
            [16, 32, 0],
        ),
        // Structures, whole and with gaps, up and down.
        (
            p.block(10, 0)
                .load(0, 0, 8)
                .load(0, 8, 8)
                .store(0, 0, 8)
                .store(0, 8, 8)
                .done(),
            [16, 0, 0],
        ),
        (
            p.block(10, 10)
                .store(0, 0, 8)
                .load(1, 0, 16)
                .store(0, 8, 16)
                .done(),
            [32, 32, 0],
        ),
        (
            p.block(10, 20)
                .load(1, 0, 8)
                .store(0, 16, 8)
                .store(1, 0, 8)
                .done(),
            [-24, -8, 0],
        ),
        (
            p.block(10, 30)
                .store(0, 0, 4)
                .store(0, 4, 4)
                .store(0, 8, 4)
                .load(1, 0, 8)
                .done(),
            [12, 8, 0],
        ),
        (
            p.block(11, 0)
                .store(0, 0, 8)
                .store(1, 0, 8)
                .load(2, 0, 8)
                .done(),
            [8, -16, 32],
        ),
        // What was written before waits for it.
        (p.block(8, 0).fence(FenceKind::Store).done(), [0, 0, 0]),
    ]
}

/// Executes those of a sweep's executions.
fn run(
    p: &mut Program,
    s: &Sweep,
    (block, strides): (u32, [i64; 3]),
    apart: bool,
    part: Range<u64>,
) {
    let words = p.table.get(block).map_or(0, |b| b.words);
    for n in part {
        let value = |at: usize| (HEAP + s.from[at]).wrapping_add_signed(strides[at] * n as i64);
        let values = [value(0), value(1), value(2)];
        p.run(s.thread, block, &values[..words as usize]);
        if n == s.times / 2 && s.pause > 0 {
            p.compute(s.thread, s.pause);
        }
        if apart {
            // Memory that nobody has.
            p.special(s.thread, Special::Free { addr: 8, caller: 0 });
        }
    }
    p.flush();
}

fn found(sweeps: &[Sweep], thresholds: Thresholds, apart: bool) -> String {
    let mut p = Program::default();
    let blocks = blocks(&mut p);
    let mut left = sweeps;
    while let [first, rest @ ..] = left {
        let second = rest.first().filter(|_| first.turns.is_some());
        left = if second.is_some() { &rest[1..] } else { rest };
        let turn = first.turns.unwrap_or(first.times);
        let most = first.times.max(second.map_or(0, |s| s.times));
        for from in (0..most).step_by(turn as usize) {
            for s in [Some(first), second].into_iter().flatten() {
                let part = from.min(s.times)..(from + turn).min(s.times);
                run(&mut p, s, blocks[s.block], apart, part);
            }
        }
    }
    let o = p.analyze_with(Analyzer::new(thresholds, Numbers));
    format!("{:#?}", (&o.findings, &o.counts, &o.threads))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_sweep_is_its_executions_one_by_one(
        sweeps in prop::collection::vec(sweep(), 1..24),
        threads in 1..=2u32,
        near_bytes in prop_oneof![Just(1u64 << 20), Just(1 << 10)],
        max_pause in prop_oneof![Just(60u64), Just(100_000)],
        min_density in prop_oneof![Just(0.75), Just(0.0)],
    ) {
        let sweeps: Vec<_> = (sweeps.into_iter())
            .map(|s| Sweep { thread: s.thread % threads, ..s })
            .collect();
        let small = near_bytes < 1 << 20;
        let t = everything();
        let t = Thresholds {
            near_bytes,
            kept_bytes: if small { 1 << 15 } else { t.kept_bytes },
            reach_bytes: if small { 1 << 16 } else { t.reach_bytes },
            max_pause,
            min_density,
            ..t
        };
        let (swept, apart) = (found(&sweeps, t, false), found(&sweeps, t, true));
        let other: Vec<_> = swept.lines().zip(apart.lines()).filter(|(a, b)| a != b).collect();
        prop_assert!(swept == apart, "{other:#?}");
    }
}
