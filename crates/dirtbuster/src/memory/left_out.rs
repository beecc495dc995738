//! What was left out of a long run: of lines written shortly before, nobody knows what became of them there.

use super::Memory;
use crate::lines::LineState;
use crate::usage::Open;

impl Memory {
    /// The thread, at its time `now`, leaves a stretch that is recorded. What it wrote and touched there is far when it goes on:
    /// the lines that came meanwhile were not seen.
    pub(crate) fn leave_out(&mut self, thread: u32, now: u64) {
        self.leave_open_lines_of(Some(thread));
        self.cores[thread as usize].leave_out(now);
    }

    /// What all threads have written last is left open.
    pub(crate) fn leave_open(&mut self) {
        self.leave_open_lines_of(None);
    }

    /// Counted as neither used again nor not, or stretches that are short for what they write would show little that is: of
    /// 30 MB the last 10 would be said to have left for memory.
    fn leave_open_lines_of(&mut self, thread: Option<u32>) {
        for at in 0..self.lines.states.len() {
            let state = self.lines.states[at];
            if !state.is_owned() {
                continue;
            }
            let writer = self.writer_thread(&state);
            if thread.is_none_or(|t| t == writer) {
                self.leave_open_line(&state, writer);
            }
        }
    }

    fn leave_open_line(&mut self, state: &LineState, writer: u32) {
        let core = &self.cores[writer as usize];
        let Some(line) = Open::of(core, state.time, state.read_distance().is_none()) else {
            return;
        };
        if let Some(c) = state.owner.as_context() {
            self.contexts.get_mut(c).usage.leave_open(line);
        } else if let Some(o) = state.owner.as_single() {
            self.origins.get_mut(o).written().scattered.leave_open(line);
        }
    }
}
