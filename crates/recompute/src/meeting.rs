//! A barrier that workers leave with an error when one of them cannot come any more.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::Error;

pub(crate) struct Meeting {
    workers: usize,
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Default)]
struct State {
    arrived: usize,
    round: u64,
    aborted: bool,
}

impl Meeting {
    pub fn new(workers: usize) -> Meeting {
        Meeting {
            workers,
            state: Mutex::default(),
            turn: Condvar::new(),
        }
    }

    /// Waits until all workers are here.
    pub fn meet(&self) -> Result<(), Error> {
        if self.workers == 1 {
            return Ok(());
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let round = state.round;
        state.arrived += 1;
        if state.arrived == self.workers {
            state.arrived = 0;
            state.round += 1;
            self.turn.notify_all();
        }
        while state.round == round && !state.aborted {
            state = self
                .turn
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.aborted {
            return Err(Error::Aborted);
        }
        Ok(())
    }

    /// Nobody is to wait any more.
    pub fn abort(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .aborted = true;
        self.turn.notify_all();
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
