//! A program, and those that it executes, find the environment that they were given.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::same;

#[test]
fn nothing_of_the_engine_in_the_environment() {
    let script = "env; sh -c 'env; sh -c env'; A=1 env; env -i B=2 env; exec env";
    let facts = same(&[], &["sh", "-c", script]);
    // The first, and at least one for each other: none was left alone for want of variables.
    assert!(facts.processes.len() >= 7, "{facts:?}");
}

/// Behind the environment programs look for what the kernel tells them.
#[test]
fn the_auxiliary_vector_stays_in_its_place() {
    let script = "LD_SHOW_AUXV=1 sh -c : | grep -E 'PAGESZ|CLKTCK|UID|GID|SECURE|PLATFORM'";
    same(&[], &["sh", "-c", script]);
}
