//! Code that is written while it runs: the program does what it does natively, in every scope, and what was
//! recorded of it adds up.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, native, recorder, same, str};

/// The scopes and windows that have code of their own.
const OPTIONS: [&[&str]; 7] = [
    &[],
    &["count"],
    &["values"],
    &["allocations"],
    &["skip=100000", "take=50000", "period=90000"],
    &["skip=100000", "take=50000", "period=900000", "gap=0"],
    &["bursts=1100000,4400000,4"],
];

fn same_in_all_scopes(program: &str) {
    let program = cc(program, &[]);
    for options in OPTIONS {
        let facts = same(options, &[str(&program)]);
        assert_eq!(facts.status, "exit status: 0", "{options:?}");
    }
}

#[test]
fn stores_to_code_keep_registers_and_flags() {
    same_in_all_scopes("jit_stores");
}

#[test]
fn code_in_all_places() {
    same_in_all_scopes("jit_places");
}

/// Also where every block has a recorded and a counted version.
#[test]
fn faults_in_code_that_changes_itself() {
    same_in_all_scopes("jit_faults");
    let program = cc("jit_faults", &[]);
    let plain = native(&[str(&program)]);
    for options in [
        &["values", "region=any"][..],
        &["count", "skip=1000", "take=200", "period=300"],
    ] {
        let (said, facts) = recorder(options, &[str(&program)]).run();
        assert_eq!(said.stdout, plain.stdout, "{options:?}");
        assert_eq!(facts.status, "exit status: 0", "{options:?}");
    }
}

/// Each store beside code removed what had been made of it, for ever: recorded it took minutes, and was ended.
#[test]
fn code_beside_data_that_is_written() {
    let program = cc("code_beside_data", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        let facts = same(options, &[str(&program)]);
        assert_eq!(facts.status, "exit status: 0", "{options:?}");
    }
}

/// Where other threads write beside the code, as a JVM's compilers do: handlers were told of address 0.
#[test]
fn faults_beside_writes() {
    same_in_all_scopes("faults_beside_writes");
}

/// As V8 has its code: it crashed. Where the processor has no keys, the program says so.
#[test]
fn code_behind_protection_keys() {
    same_in_all_scopes("behind_keys");
}

/// The program was told of faults there, and its handlers began with the rights of what they interrupt.
#[test]
fn code_that_cannot_be_read() {
    same_in_all_scopes("closed_code");
}

#[test]
fn threads_that_change_code_together() {
    same_in_all_scopes("jit_threads");
}

/// Two threads flushed one block at a time, and the engine's build with assertions ended it.
#[test]
fn threads_whose_code_changes_itself() {
    same_in_all_scopes("jit_own_code");
}

/// A thread's registers were looked for in code that was closed by then, and half of the runs did not end. Where it was only
/// not writable for moments, most values of some runs were what the code had been.
#[test]
fn code_that_is_closed_while_it_changes_itself() {
    let program = cc("jit_own_code", &[]);
    for how in ["closed", "kept"] {
        for options in [&[][..], &["count"], &["values"]] {
            let facts = same(options, &[str(&program), how]);
            assert_eq!(facts.status, "exit status: 0", "{how}, {options:?}");
        }
    }
}

/// A store to code that ran ends its block: what follows it must not be counted with it and again
/// on its own.
#[test]
fn blocks_left_at_a_store_are_counted_once() {
    let program = cc("jit_counts", &[]);
    assert!(native(&[str(&program)]).status.success());
    let few = same(&[], &[str(&program), "100"]);
    let many = same(&[], &[str(&program), "1100"]);
    // A round of the made code: 40 instructions and its return; and what calls it, the same each time.
    let per_round = (many.instrs() - few.instrs()) as f64 / 1000.0;
    let stores = (many.stores() - few.stores()) as f64 / 1000.0;
    assert!(per_round < 60.0, "{per_round} instructions a round");
    assert!(stores < 4.0, "{stores} stores a round");
}
