//! Memory rebuilt from a recording with values is the program's, byte for byte, at random stops and at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "rebuild/compare.rs"]
mod compare;
#[path = "rebuild/stops.rs"]
mod stops;

use std::path::Path;

use common::{Ran, Running, text};
use compare::{Compared, compare};
use prestore_trace::container::Trace;

/// Records `command` with a stop after every `blocks` executed blocks on average, and compares.
#[track_caller]
fn rebuilt(folder: &Path, command: &[&str], blocks: u64) -> Compared {
    let (dir, stops) = (folder.join("trace"), folder.join("stops"));
    let mut prestore = std::process::Command::new(env!("CARGO_BIN_EXE_prestore"));
    prestore.args(["record", "-q", "--force", "--values", "-o", text(&dir), "--"]);
    prestore.args(command);
    prestore.env("PRESTORE_STOPS", format!("{},{blocks}", text(&stops)));
    let ran: Ran = Running::start(prestore).finish();
    assert_eq!(ran.code(), 0, "{ran:#?}");
    let trace = Trace::open(&dir).unwrap();
    compare(&trace, &stops::read(&stops))
}

#[test]
fn explore() {
    let Ok(command) = std::env::var("EXPLORE") else { return };
    let command: Vec<&str> = command.split('|').collect();
    let folder = tempfile::tempdir().unwrap();
    let blocks = std::env::var("BLOCKS").unwrap().parse().unwrap();
    println!("{:x?}", rebuilt(folder.path(), &command, blocks));
}
