//! Tiles (AMX) are the program's through signals, faults and forks; what it loads and stores by them is recorded.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, native, recorder, same, str};

/// Does the processor have them, and does the kernel give them?
fn have_tiles(test: &str) -> bool {
    let program = cc("tile_accesses", &["-O1", "-no-pie"]);
    let have = native(&[str(&program), "probe"]).status.code() != Some(77);
    if !have {
        eprintln!("SKIPPED: {test}: no AMX here");
    }
    have
}

/// Frames had room for no tiles: the program crashed on its way back, or had lost them.
#[test]
fn they_outlive_signals() {
    if !have_tiles("they_outlive_signals") {
        return;
    }
    let program = cc("tiles", &["-O1", "-pthread"]);
    for options in [
        &[][..],
        &["count"],
        &["values"],
        &["skip=1000", "take=2000", "period=10000"],
    ] {
        same(options, &[str(&program)]);
    }
}

/// As the program says itself what each has to be.
#[test]
fn their_rows_are_recorded() {
    if !have_tiles("their_rows_are_recorded") {
        return;
    }
    let program = cc("tile_accesses", &["-O1", "-no-pie"]);
    for options in [&["events"][..], &["events", "values"]] {
        let (said, facts) = recorder(options, &[str(&program)]).run();
        assert_eq!(said.stdout, native(&[str(&program)]).stdout);
        let mut lines = said.stdout.lines();
        let area = lines.next().and_then(|l| l.strip_prefix("area ")).unwrap();
        let expected: Vec<&str> = lines.collect();
        assert_eq!(facts.accesses(area.parse().unwrap(), 65536), expected);
        assert!(expected.len() > 60);
    }
}

/// Each is one instruction, however many rows it has, and none is executed out of line.
#[test]
fn each_is_one_instruction() {
    if !have_tiles("each_is_one_instruction") {
        return;
    }
    let program = cc("tile_accesses", &["-O1", "-no-pie"]);
    let instrs = |times: &str| {
        let (said, facts) = recorder(&[], &[str(&program), "loop", times]).run();
        assert_eq!(said.stdout, "right\n");
        facts.instrs()
    };
    // Two loads, a zero, a product, a store, three moves, and the loop's subtraction and jump.
    assert_eq!(instrs("2000000") - instrs("1000000"), 10_000_000);
}

/// Where a thread may not use them; on a processor that has none, all of it is refused.
#[test]
fn they_are_refused_as_natively() {
    let program = cc("tiles_refused", &["-O1"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}
