//! What memory controllers accepted, and whether that persists.

use std::cell::RefCell;

use prestore_machine::Machine;
use prestore_sim::{Accepted, NoMechanism, OpKind, Results, Simulation};
use prestore_trace::{FenceKind, FlushKind};

use crate::source::{Program, tiny};

const LINES: u64 = 200;

/// Stores to each of some lines, each written back and fenced if `flushed`.
fn log(machine: &Machine, flushed: bool) -> (Vec<Accepted>, Results) {
    let accepted = RefCell::new(Vec::new());
    let note = |one| accepted.borrow_mut().push(one);
    let mut program = Program::new(1, |_, i| {
        let line = i / 3 * 64;
        (i < 3 * LINES).then_some(match i % 3 {
            0 => (OpKind::Store, line, 8),
            1 if flushed => (OpKind::Flush(FlushKind::Clwb), line, 0),
            2 if flushed => (OpKind::Fence(FenceKind::Store), 0, 0),
            _ => (OpKind::Load, 0, 8),
        })
    });
    let results = Simulation::new(machine)
        .accepted(&note)
        .run(&mut program, &mut NoMechanism)
        .unwrap();
    (accepted.into_inner(), results)
}

#[test]
fn what_is_fenced_is_accepted_in_the_order_of_the_program() {
    let (accepted, results) = log(&tiny(&[]), true);
    let lines: Vec<u64> = accepted.iter().map(|a| a.line.0).collect();
    assert_eq!(lines, (0..LINES).collect::<Vec<_>>());
    assert!(accepted.is_sorted_by_key(|a| a.at));
    let bytes: u32 = accepted.iter().map(|a| a.bytes.count_ones()).sum();
    assert_eq!(u64::from(bytes), results.memories[0].write_bytes);
    assert!(
        accepted
            .iter()
            .all(|a| a.persisted && a.core == 0 && a.memory == 0)
    );
}

#[test]
fn what_only_caches_have_is_not_accepted() {
    let (accepted, results) = log(&tiny(&[]), false);
    // The caches hold 144 lines; others were evicted.
    assert!(accepted.len() < LINES as usize, "{}", accepted.len());
    assert_eq!(accepted.len() as u64 * 64, results.memories[0].write_bytes);
}

#[test]
fn acceptance_persists_where_the_machine_says_so() {
    let (accepted, _) = log(&tiny(&["memories.dram.controller.persistent=false"]), true);
    assert!(accepted.iter().all(|a| !a.persisted));
    assert_eq!(accepted.len() as u64, LINES);
}
