//! A program, and those that it executes, find the environment that they were given.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::process::Command;

use common::{native, recorder, same};

#[test]
fn nothing_of_the_engine_in_the_environment() {
    let script = "env; sh -c 'env; sh -c env'; A=1 env; env -i B=2 env; exec env";
    let facts = same(&[], &["sh", "-c", script]);
    // The first, and at least one for each other: none was left alone for want of variables.
    assert!(facts.processes.len() >= 7, "{facts:?}");
}

/// Also what does not look like a variable, and in its order.
#[test]
fn the_environment_is_in_order() {
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let home = format!("HOME={}", std::env::var("HOME").unwrap_or_default());
    let given = ["env", "-i", "Z=1", &path, "B=2", &home, "A=3"];
    let native = native(&[&given[..], &["env"]].concat());
    let mut recorder = recorder(&[], &["env"]);
    let mut command = Command::new(given[0]);
    command
        .args(&given[1..])
        .arg(recorder.command.get_program());
    command.args(recorder.command.get_args());
    recorder.command = command;
    let (said, facts) = recorder.run();
    assert_eq!(said.stdout, native.stdout, "{facts:?}");
    assert!(facts.instrs() > 0, "{facts:?}");
}

/// Behind the environment programs look for what the kernel tells them.
#[test]
fn the_auxiliary_vector_stays_in_its_place() {
    let script = "LD_SHOW_AUXV=1 sh -c : | grep -E 'PAGESZ|CLKTCK|UID|GID|SECURE|PLATFORM'";
    same(&[], &["sh", "-c", script]);
}
