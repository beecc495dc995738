//! A barrier that workers leave with an error when one of them cannot come any more.
//!
//! Workers arrive with an atomic and poll for the round's end, so that whoever simulates a recording sees that they wait.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::Error;

pub(crate) struct Meeting {
    workers: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    aborted: AtomicBool,
}

/// Polls before a worker lets others have its processor, and before it sleeps between polls.
const SPINS: u32 = 100;
const YIELDS: u32 = 1000;
/// Short beside what workers wait long for: storage.
const NAP: Duration = Duration::from_micros(50);

impl Meeting {
    pub fn new(workers: usize) -> Meeting {
        Meeting {
            workers,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            aborted: AtomicBool::new(false),
        }
    }

    /// Waits until all workers are here.
    pub fn meet(&self) -> Result<(), Error> {
        if self.workers == 1 {
            return Ok(());
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            // Nobody arrives again before the round has ended.
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
        }
        let mut polls = 0;
        while self.round.load(Ordering::Acquire) == round && !self.aborted.load(Ordering::Acquire) {
            match polls {
                0..SPINS => std::hint::spin_loop(),
                SPINS..YIELDS => std::thread::yield_now(),
                _ => std::thread::sleep(NAP),
            }
            polls = polls.saturating_add(1);
        }
        if self.aborted.load(Ordering::Acquire) {
            return Err(Error::Aborted);
        }
        Ok(())
    }

    /// Nobody is to wait any more.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }
}

/// Aborts the meeting if its worker goes away without having said that it is done: it failed, or its body panicked.
pub(crate) struct Attendance<'a> {
    meeting: &'a Meeting,
    done: bool,
}

impl<'a> Attendance<'a> {
    pub fn new(meeting: &'a Meeting) -> Attendance<'a> {
        Attendance {
            meeting,
            done: false,
        }
    }

    pub fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.meeting.abort();
        }
    }
}
