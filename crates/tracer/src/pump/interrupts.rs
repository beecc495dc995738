//! What the user asks for by signals.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};

/// Requests to stop: the first is for the program, the second ends the recording and leaves the
/// program alone. Each signal that only this process got is passed on to the program, and so are those that mean something to it alone.
#[derive(Debug, Default)]
pub struct Interrupts {
    count: AtomicU32,
    to_pass_on: AtomicU64,
}

impl Interrupts {
    /// Another request, which the program got as well: a terminal tells all that it runs.
    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// Another request, by a signal that the program did not get.
    pub fn pass(&self, signal: i32) {
        self.tell(signal);
        self.add();
    }

    /// A signal that is no request, but the program's alone.
    pub fn tell(&self, signal: i32) {
        self.to_pass_on
            .fetch_or(1 << (signal & 63), Ordering::SeqCst);
    }

    /// Requests so far.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::SeqCst)
    }

    /// Sends what waits to the program.
    pub(super) fn pass_on(&self, program: u32) {
        let waiting = self.to_pass_on.swap(0, Ordering::SeqCst);
        for number in (1..64).filter(|n| waiting >> n & 1 != 0) {
            if let (Some(program), Some(signal)) = (
                Pid::from_raw(program as i32),
                Signal::from_named_raw(number),
            ) {
                // It may have ended meanwhile, or run as another user; it then decides itself.
                let _ = kill_process(program, signal);
            }
        }
    }
}
