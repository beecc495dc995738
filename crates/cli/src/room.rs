//! Room on the stack for the command itself.

use std::io;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, getrlimit};

use crate::notice;

/// What Linux gives by default. Reading the command line alone takes some 80 KB, more than `ulimit -s 64` leaves.
const ENOUGH: usize = 8 << 20;

/// Calls `command`, on a stack of its own where the user's limit (`ulimit -s`) is lower than what is usual: it is meant for the
/// program, which gets it unchanged.
pub fn with_room(command: fn() -> ExitCode) -> ExitCode {
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= ENOUGH as u64) {
        return command();
    }
    let called = thread::Builder::new()
        .name("prestore".into())
        .stack_size(ENOUGH)
        .spawn(command)
        .and_then(|thread| {
            let panicked = |_| io::Error::other("the command panicked");
            thread.join().map_err(panicked)
        });
    called.unwrap_or_else(|error| {
        notice::say(&error.to_string());
        ExitCode::from(101)
    })
}
