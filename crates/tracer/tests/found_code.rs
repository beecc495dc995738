//! Programs of our own with code that is written, mapped or protected while it is executed, as was once recorded otherwise than it ran.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, same, str};

/// What had been there before was executed.
#[test]
fn code_that_the_kernel_writes() {
    let program = cc("written_code", &["-pthread"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// What had been mapped there before was executed; and what had been moved could not be written.
#[test]
fn code_that_is_mapped() {
    let program = cc("mapped_code", &["-pthread"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// A thread on its way there went to address -1.
#[test]
fn code_that_others_flush() {
    let program = cc("flushed_code", &["-pthread"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// The engine crashed where a thread was about to execute there for the first time.
#[test]
fn code_that_several_others_flush() {
    let program = cc("several_flush", &["-O1", "-pthread"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// It was executed as it had been before.
#[test]
fn code_that_others_execute_as_it_becomes_writable() {
    let program = cc("made_writable", &["-O1", "-pthread"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// It was executed as it had been before.
#[test]
fn code_that_others_write() {
    let program = cc("written_by_others", &[]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

#[test]
fn jumps_to_what_is_not_code() {
    for options in [&[][..], &["count"]] {
        same(options, &[str(&cc("no_code", &[]))]);
    }
}

/// The kernel writes to the page of the code, which is the thread's too where little lies between (static).
#[test]
fn code_on_stacks() {
    let stack = ["-pthread", "-z", "execstack"];
    same(&[], &[cc("stack_code", &stack)]);
    same(
        &[],
        &[cc("stack_code", &[&stack[..], &["-static"]].concat())],
    );
}

/// Programs that were linked before the vDSO call them.
#[test]
fn entries_at_fixed_addresses() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("fixed_vsyscalls", &[])]);
    }
}

/// What the kernel writes beside code that has run; read-only to the engine, its page is written to all the same.
#[test]
fn results_beside_code() {
    for options in [&[][..], &["values"]] {
        same(options, &[cc("beside_code", &[])]);
    }
}

/// What had been there before was executed, as nothing keeps its writers away.
#[test]
fn code_whose_protection_is_sealed() {
    let program = cc("sealed", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}
