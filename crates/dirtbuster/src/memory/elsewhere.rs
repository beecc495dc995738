//! Lines that other processes write, too: see `back::meeting`.

use super::{Memory, Moment};
use crate::clock::ThreadClock;
use crate::cores::sampled;
use crate::lines::{LINE_SHIFT, LineState, RegionHint};

/// The thread that stands for other processes.
#[derive(Clone, Debug)]
pub(crate) struct Others {
    pub(crate) thread: u32,
    /// The process's time in that of all processes, which is the others'.
    pub(crate) clock: ThreadClock,
}

impl Memory {
    /// The line that this process has just written was another process's.
    pub(crate) fn takes(&mut self, line: u64) {
        let hint = &mut RegionHint::default();
        let page = self.lines.page(hint, line << LINE_SHIFT);
        let state = self.lines.find(*hint, line);
        let state = state.map(|i| self.lines.states[i]);
        if let Some(state) = state.filter(LineState::is_owned) {
            let origin = self.origin_of(&state);
            self.origins.get_mut(origin).written().scattered.taken += 1;
            self.lines.set_shared(page, line);
        }
    }

    /// Another process writes the line of `addr`, which this one has written or read.
    pub(crate) fn taken_by(&mut self, addr: u64, others: Moment) {
        let hint = &mut RegionHint::default();
        self.foreign_write(hint, addr, 1, others);
        let line = addr >> LINE_SHIFT;
        if sampled(line) {
            let page = self.lines.page(hint, addr);
            self.touch(page, line, others, false);
            // Who reads it next fetches it.
            self.lines.set_unread(page, line);
        }
    }
}
