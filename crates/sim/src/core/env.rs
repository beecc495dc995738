//! What the parts of a core that act on their own need to act.

use prestore_trace::LineAddr;

use super::fills::FillBuffers;
use super::flushes::StoreNumber;
use super::names::Names;
use super::params::Params;
use super::results::CoreResults;
use super::stores::Way;
use crate::{Asks, Below, ByteMask, Served, Stored, Time};

/// The neighbours of the store path.
pub(super) struct Env<'a, B> {
    pub params: &'a Params,
    pub fills: &'a mut FillBuffers,
    pub results: &'a mut CoreResults,
    pub names: &'a mut Names,
    pub below: &'a mut B,
}

impl<B: Below> Env<'_, B> {
    /// Asks to own `line`, which is not owned; a fill buffer is free at `at`. `whole`: all its bytes
    /// will be overwritten.
    pub fn own_filled(&mut self, at: Time, line: LineAddr, whole: bool) -> Served {
        let served = self.own(at, line, whole);
        self.fills.take(line, at, served);
        served
    }

    /// Asks to own `line`, without a fill buffer.
    pub fn own(&mut self, at: Time, line: LineAddr, whole: bool) -> Served {
        self.results.owns += 1;
        let served = self.below.own(self.params.id, at, line, whole);
        let under_way = self.fills.find(line, at).map_or(at, |fill| fill.until);
        Served {
            done: served.done.max(under_way),
            ..served
        }
    }

    /// When a store, or an atomic, which reads, can leave for a line that comes as `granted` and `done` say.
    #[inline(always)]
    pub fn leaves(&self, atomic: bool, granted: Time, done: Time) -> Time {
        if self.params.leaves_when_granted && !atomic {
            granted
        } else {
            done
        }
    }

    /// When a line that a flush takes away can be asked for again, from `at` on: when that is taken.
    #[inline(always)]
    pub fn after_flush(&self, at: Time, line: LineAddr) -> Time {
        match self.fills.flush_until(line, at) {
            Some(until) if !self.below.owned(self.params.id, line) => until,
            _ => at,
        }
    }

    /// Writes to the nearest cache. Answers when the next write may follow (less the pipeline's
    /// latency, which overlaps), and when this one is done.
    #[inline(always)]
    pub fn write(
        &mut self,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> (Time, Time) {
        self.results.drains += 1;
        let mut at = self.after_flush(at, line);
        let id = self.params.id;
        let written = if self.params.leaves_when_granted {
            self.below.write_owned(id, at, line, bytes, by)
        } else {
            Some(self.below.write(id, at, line, bytes, by))
        };
        let done = written.unwrap_or_else(|| {
            // Lost since it was asked for: it comes once more, and who follows may wait for its data.
            at = self.own_filled(self.fills.free_at(at), line, false).granted;
            self.below.write(id, at, line, bytes, by)
        });
        let done = done.max(at);
        (at.max(done.since(self.params.l1)), done)
    }

    /// Stores leave for memory, through the caches or around them. Answers when that has taken them.
    pub fn write_past(
        &mut self,
        way: Way,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.results.drains += 1;
        let at = self.after_flush(at, line);
        let id = self.params.id;
        let taken = match way {
            Way::Through => self.below.write_through(id, at, line, bytes, by),
            _ => self.below.write_around(id, at, line, bytes, by),
        };
        taken.max(at)
    }

    /// The stores that leave the store path as `number`; nobody, where nobody wants to know.
    #[inline(always)]
    pub fn stored(&mut self, number: StoreNumber) -> Vec<Stored> {
        if B::NAMES {
            self.names.stored(number)
        } else {
            Vec::new()
        }
    }

    /// Does a core that has `line` refuse to give it up at `at`? Answers when it may be asked again.
    #[inline(always)]
    pub fn refused(&mut self, at: Time, line: LineAddr, asks: Asks) -> Option<Time> {
        if B::REFUSES {
            self.below.refused(self.params.id, at, line, asks)
        } else {
            None
        }
    }
}
