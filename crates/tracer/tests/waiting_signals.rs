//! Signals that nobody handles: a program waits for them, looks for them, reads them from a
//! descriptor, ignores them, leaves them to what it executes. And what a handler begins with.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;
use std::sync::LazyLock;

use common::{cc, same, str};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| cc("waiting_signals", &[]));

fn runs(way: &str) {
    for options in [&[][..], &["count"]] {
        let facts = common::recorder(options, &[str(&PROGRAM), way]).run();
        let native = common::native(&[str(&PROGRAM), way]);
        assert_eq!(facts.0.stdout, format!("{way}: done\n"), "{facts:?}");
        assert_eq!(facts.0.stdout, native.stdout);
        assert_eq!(facts.1.status, native.status.to_string());
    }
}

#[test]
fn sigtimedwait_takes_what_is_pending_and_what_comes() {
    runs("timed");
}

#[test]
fn real_time_signals_keep_order_and_value() {
    runs("queued");
}

#[test]
fn a_thread_waits_for_what_all_have_blocked() {
    runs("threads");
}

#[test]
fn signals_are_read_from_a_descriptor() {
    runs("descriptor");
}

#[test]
fn ignored_signals_interrupt_nothing() {
    runs("ignored");
}

#[test]
fn the_next_image_inherits_what_is_blocked_pending_and_ignored() {
    runs("executed");
}

/// The engine lets them in for itself.
#[test]
fn faults_that_are_blocked_for_the_next_image() {
    same(&[], &[str(&cc("blocked_faults", &[]))]);
}

/// The C library's own signals included.
#[test]
fn what_is_ignored_for_the_next_image() {
    same(&[], &[str(&cc("ignored_by_next", &[]))]);
}

#[test]
fn a_call_waits_with_a_mask_in_constant_memory() {
    runs("masks");
}

/// They began with the mask from before the call, and of two signals one was handled.
#[test]
fn masks_of_calls_that_wait() {
    same(&[], &[str(&cc("waiting_masks", &[]))]);
}

/// The engine read them.
#[test]
fn masks_that_cannot_be_read() {
    same(&[], &[str(&cc("bad_masks", &[]))]);
}

/// Those of all signals came back with SIGKILL and SIGSTOP.
#[test]
fn masks_without_what_nobody_blocks() {
    same(&[], &[str(&cc("full_masks", &["-pthread"]))]);
}

/// They waited in the engine, where the program's calls did not find them.
#[test]
fn faults_that_are_looked_for() {
    let program = cc("pending_faults", &["-O1"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// The same of descriptors, of a thread that waits, and of what `/proc` tells.
#[test]
fn faults_that_descriptors_tell_of() {
    let program = cc("pending_descriptors", &["-O1", "-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// They interrupted calls whose own mask holds them back, and no descriptor told of them.
#[test]
fn faults_that_calls_hold_back() {
    let program = cc("pending_masks", &["-O1"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// For that, what ends them must not come in before they wait.
#[test]
fn signals_that_end_such_calls() {
    same(&["count"], &[str(&cc("ended_waits", &[]))]);
}

/// What is sent to the process was for the thread that the kernel had given it to, and killed one that had just begun, or that was in
/// the recorder's code.
#[test]
fn faults_that_wait_for_any_thread() {
    let program = cc("pending_for_any", &["-O1", "-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// The engine suspended threads with a signal of which a process may have pending no more than it is let: for ever.
#[test]
fn threads_where_no_signal_may_be_pending() {
    same(&[], &[cc("no_pending", &["-O1", "-pthread"])]);
}

#[test]
fn handlers_begin_with_clear_flags() {
    same(&[], &[str(&cc("handler_flags", &[]))]);
}

#[test]
fn handlers_begin_with_fresh_floating_point() {
    same(&[], &[str(&cc("handler_floating_point", &["-O1"]))]);
}
