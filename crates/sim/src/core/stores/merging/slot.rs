//! A line of the write buffer.

use prestore_trace::LineAddr;

use crate::core::flushes::StoreNumber;
use crate::core::stores::Way;
use crate::{ByteMask, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Merges stores until this time.
    Held(Time),
    /// On its way to the cache, there at this time; free from there on.
    Draining(Time),
}

/// Why a line drains: each reason may have a number of ways out of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The buffer is full enough, or its timer ran out.
    Age,
    /// A fence or an atomic waits.
    Fence,
    /// An instruction asked for this very line.
    Asked,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub line: LineAddr,
    pub bytes: ByteMask,
    pub state: State,
    pub cause: Cause,
    /// When its youngest store retired.
    pub ready: Time,
    pub number: StoreNumber,
    pub way: Way,
    /// Counted in the filter?
    pub counted: bool,
}

impl Slot {
    #[inline]
    pub fn holds(&self, line: LineAddr) -> bool {
        self.line == line && matches!(self.state, State::Held(_))
    }

    pub fn is_pending(&self, at: Time) -> bool {
        match self.state {
            State::Held(_) => true,
            State::Draining(end) => end > at,
        }
    }

    pub fn press(&mut self, at: Time) {
        if let State::Held(due) = &mut self.state {
            *due = (*due).min(at);
        }
    }
}
