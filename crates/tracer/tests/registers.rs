//! A block may leave no register free to record with: the program's values are found all the same,
//! and kept.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, same, str};

/// Stores to the 8 KiB that the program says it saves its state to.
fn saves(options: &[&str]) -> Vec<String> {
    let program = cc("scarce_registers", &["-static", "-no-pie"]);
    let start = common::native(&[str(&program)]).stdout;
    let start = start.split_whitespace().next().unwrap();
    let facts = same(options, &[str(&program)]);
    let ours = facts.events.iter().filter(|e| e.contains(start));
    // Where in the thread's run does not matter: the C library looks at the environment.
    ours.map(|e| e.splitn(3, ' ').nth(2).unwrap().to_owned())
        .collect()
}

#[test]
fn all_registers_in_use() {
    let plain = saves(&["events"]);
    assert_eq!(plain.len(), 3, "{plain:?}");
    // x87 and SSE state; the header comes behind.
    for save in &plain {
        assert!(save.ends_with(" 416"), "{save}");
    }
    // Recording values takes more registers than are left.
    assert_eq!(plain, saves(&["events", "values"]));
}

#[test]
fn calls_leave_their_address() {
    for options in [&[][..], &["count"]] {
        same(options, &[str(&cc("call_registers", &[]))]);
    }
}

/// The recorder asked it too, while the program ran, and ended it.
#[test]
fn cpuid_may_be_refused() {
    let program = cc("refused_cpuid", &["-O1"]);
    if common::native(&[str(&program)]).status.code() == Some(77) {
        eprintln!("SKIPPED: cpuid_may_be_refused: this processor answers it always");
        return;
    }
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// They were recorded as stores.
#[test]
fn expanding_loads() {
    let program = cc("expands", &["-O1", "-no-pie", "-mavx512f"]);
    let said = common::native(&[str(&program)]);
    if said.status.code() == Some(77) {
        eprintln!("SKIPPED: expanding_loads: this processor has no AVX-512");
        return;
    }
    let area = said.stdout.trim();
    for options in [&["events"][..], &["events", "values"]] {
        let facts = same(options, &[str(&program)]);
        let there: Vec<_> = facts.events.iter().filter(|e| e.contains(area)).collect();
        assert_eq!(there.len(), 2, "{there:?}");
        assert!(there[0].ends_with(&format!("Load {area} 24")), "{there:?}");
        assert!(there[1].ends_with(&format!("Load {area} 12")), "{there:?}");
    }
}

/// The recorder kept a pointer in the register that has the answer, and read what instructions about bounds had not stored.
#[test]
fn calls_of_the_monitor_and_bounds() {
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&cc("hypercalls", &["-O1"]))]);
    }
}

/// Accesses between the stores with which attempts begin.
fn attempts(accesses: &[String]) -> Vec<&[String]> {
    let parts = accesses.split(|access| access == "Store 16383 1");
    parts.skip(1).collect()
}

/// All from the area's beginning to the end of what was asked for was said to be touched, 64 bytes too few where parts are aligned.
#[test]
fn saved_and_restored_state() {
    let program = cc("saved_state", &["-O1", "-no-pie"]);
    if common::native(&[str(&program)]).status.code() == Some(77) {
        eprintln!("SKIPPED: saved_and_restored_state: this processor has no xsavec");
        return;
    }
    for options in [&["events"][..], &["events", "values"]] {
        let (said, facts) = common::recorder(options, &[str(&program)]).run();
        let mut lines = said.stdout.lines();
        let area = lines.next().and_then(|l| l.strip_prefix("area ")).unwrap();
        let recorded = facts.accesses(area.parse().unwrap(), 16384);
        let said: Vec<String> = lines.map(str::to_owned).collect();
        let (recorded, said) = (attempts(&recorded), attempts(&said));
        assert_eq!(recorded.len(), said.len());
        let mut compared = 0;
        for (said, recorded) in said.into_iter().zip(recorded) {
            if said[0] != "void" {
                assert_eq!(recorded, said);
                compared += said.len();
            }
        }
        assert!(compared > 400);
    }
}

#[test]
fn upper_vectors_stay_unused() {
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&cc("upper_vectors", &["-O1"]))]);
    }
}
