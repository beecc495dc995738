//! Tiles (AMX) are the program's through signals, faults and forks.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, native, same, str};

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
