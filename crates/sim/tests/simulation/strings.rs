//! One string instruction beside another thread: in how many pieces it comes is nobody's business.

use prestore_machine::Machine;
use prestore_sim::{OpKind, Results};
use proptest::prelude::*;

use crate::source::{run, tiny};

/// Thread 0 writes a string of `bytes`, an operation for each `piece` of it, thread 1 loads `loads` cold
/// lines of other pages.
fn beside_loads(machine: &Machine, kind: OpKind, bytes: u64, piece: u64, loads: u64) -> Results {
    run(machine, 2, |thread, i| match thread {
        0 => (i * piece < bytes).then(|| {
            let size = piece.min(bytes - i * piece);
            (kind, i * piece, size as u32)
        }),
        _ => (i < loads).then_some((OpKind::Load, (1 << 40) + i * 4160, 8)),
    })
}

/// Simulated, but for the instructions in front: pieces are instructions of their own here.
#[track_caller]
fn same_times(one: &Results, other: &Results, what: &str) {
    for (a, b) in one.threads.iter().zip(&other.threads) {
        let (a, b) = (a.cycles as f64, b.cycles as f64);
        assert!((a / b - 1.0).abs() <= 0.02, "{what}: {a} against {b}");
    }
}

#[test]
fn a_string_on_machine_a_takes_the_same_time_in_any_pieces() {
    let machine = Machine::find_with("machine-a", &[]).unwrap();
    let bytes = 4 << 20;
    let fine = beside_loads(&machine, OpKind::Store, bytes, 64, 1000);
    for piece in [4096, 64 << 10, 1 << 20, bytes] {
        let coarse = beside_loads(&machine, OpKind::Store, bytes, piece, 1000);
        same_times(&fine, &coarse, &format!("stores of {piece} B"));
    }
}

#[test]
fn so_does_what_is_read_and_what_goes_past_the_caches() {
    let machine = Machine::find_with("machine-a", &[]).unwrap();
    let bytes = 1 << 20;
    for kind in [OpKind::Load, OpKind::NtStore] {
        let fine = beside_loads(&machine, kind, bytes, 64, 400);
        for piece in [8192, bytes] {
            let coarse = beside_loads(&machine, kind, bytes, piece, 400);
            same_times(&fine, &coarse, &format!("{kind:?} of {piece} B"));
        }
    }
}

#[test]
fn what_a_fence_drains_holds_nobody_up_before_its_time() {
    // Eight stores wait for memory, and a fence for them; the other thread hits its cache meanwhile
    // and goes to memory now and then.
    let machine = tiny(&["core.store_buffer.rfo_ahead=1"]);
    let of = |fence: bool| {
        run(&machine, 2, move |thread, i| match (thread, i % 9) {
            (0, 8) if fence => {
                (i < 9 * 200).then_some((OpKind::Fence(prestore_trace::FenceKind::Store), 0, 0))
            }
            (0, _) => (i < 9 * 200).then_some((OpKind::Store, i * 4096, 8)),
            (_, _) => (i < 200).then_some((OpKind::Load, (1 << 40) + i * 4096, 8)),
        })
    };
    let (with, without) = (of(true), of(false));
    let cycles = |r: &Results| r.threads[1].cycles as f64;
    let ratio = cycles(&with) / cycles(&without);
    // The fence takes pressure from memory, it adds none.
    assert!(ratio <= 1.02, "{ratio}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Pieces of any numbers of lines.
    #[test]
    fn any_pieces_take_the_same_time(
        kind in prop::sample::select(vec![OpKind::Store, OpKind::NtStore, OpKind::Load]),
        cuts in prop::collection::vec(1u64..2048, 1..12),
        ahead in 1u32..8,
    ) {
        let machine = tiny(&[&format!("core.store_buffer.rfo_ahead={ahead}")]);
        let lines: u64 = cuts.iter().sum();
        let starts: Vec<u64> = cuts.iter().scan(0, |at, n| {
            *at += n;
            Some(*at - n)
        }).collect();
        let other = move |i: u64| (i < lines / 8).then_some((OpKind::Load, (1 << 40) + i * 4160, 8));
        let whole = run(&machine, 2, |thread, i| match thread {
            0 => (i == 0).then_some((kind, 0, (lines * 64) as u32)),
            _ => other(i),
        });
        let cut = run(&machine, 2, |thread, i| match thread {
            0 => (starts.get(i as usize).zip(cuts.get(i as usize)))
                .map(|(at, n)| (kind, at * 64, (n * 64) as u32)),
            _ => other(i),
        });
        for (a, b) in whole.threads.iter().zip(&cut.threads) {
            // The instructions in front of pieces shift where the controller turns to its writes: once more, or less, before
            // the end. That takes four of them, each to a row of its own.
            let (a, b) = (a.cycles as f64, b.cycles as f64);
            prop_assert!((a - b).abs() <= 0.02 * a + 200.0, "{} against {}", a, b);
        }
    }
}
