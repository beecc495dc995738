//! Flushes of lines, and writes after them.

use super::{Memory, Moment, Piece};
use crate::existing::Flushed;
use crate::lines::{LINE_SHIFT, RegionHint};

impl Memory {
    /// The judged instruction `number` of a thread flushes the line that holds `addr`.
    pub(crate) fn flush(&mut self, hint: &mut RegionHint, number: u32, addr: u64, at: Moment) {
        let line = addr >> LINE_SHIFT;
        self.lines.page(hint, addr);
        let dirty = self.lines.find(*hint, line).filter(|&i| {
            let state = &self.lines.states[i];
            state.is_owned() && !state.owner.is_flushed()
        });
        let counts = self.existing.counts(at.thread, number);
        counts.executed += 1;
        let Some(i) = dirty else {
            counts.clean += 1;
            return;
        };
        let state = &mut self.lines.states[i];
        state.owner = state.owner.flushed();
        if let Some(c) = state.owner.as_context() {
            self.contexts.get_mut(c).usage.flushed += 1;
        }
        let flushed = Flushed {
            thread: at.thread,
            number,
            time: at.now,
        };
        self.existing.flushed.insert(line, flushed);
    }

    /// The piece is a write of a line; if that was flushed, of a line that was flushed and is
    /// dirty again.
    #[inline]
    pub(super) fn written_after_flush(&mut self, p: &Piece) {
        if self.lines.states[p.state].owner.is_flushed() {
            self.write_after_flush(p);
        }
    }

    #[cold]
    fn write_after_flush(&mut self, p: &Piece) {
        let state = &mut self.lines.states[p.state];
        state.owner = state.owner.bare();
        if let Some(o) = state.owner.as_single() {
            self.origins.get_mut(o).written().scattered.flushed += 1;
        }
        let Some(flushed) = self.existing.flushed.remove(&p.line) else {
            return;
        };
        let near = self.still_near(flushed.thread, flushed.time);
        let distance = (flushed.thread == p.at.thread).then(|| p.at.now - flushed.time);
        let counts = self.existing.counts(flushed.thread, flushed.number);
        if near {
            counts.rewritten += 1;
            counts.rewrite_sum += distance.unwrap_or(0);
        }
    }
}
