//! Loads of what pending stores have.

use prestore_trace::LineAddr;

use super::pipeline::Core;
use super::stalls::Cause;
use super::stores::{Pending, Stores};
use super::waiting::Gets;
use crate::{Below, ByteMask, ServedBy, Time};

impl Core {
    /// A load of a line of which stores may be pending.
    #[inline(never)]
    pub(super) fn load_pending<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        from: Time,
        below: &mut B,
    ) -> bool {
        let Some(found) = self.wait_to_forward(line, bytes, below) else {
            return false;
        };
        let mut from = from;
        if found == Some(Pending::All) {
            match self.forwarded_from(line) {
                Some(data) => from = from.max(data),
                None => return true,
            }
        }
        let mut at = from.max(self.front.load_port(&self.params, &mut self.results));
        let found = found.unwrap_or_else(|| self.stores.look(line, bytes, at));
        match found {
            Pending::None => {}
            Pending::Several(number) if self.params.merge.is_some() => {
                let reached = self.drain_store(line, number, below);
                let merge = self.params.merge.unwrap_or_default();
                self.loaded(at.max(reached) + merge, ServedBy::Cache(0));
                return true;
            }
            Pending::All | Pending::Several(_) => {
                self.results.load_forwarded += 1;
                let (done, by) = if self.params.forward_misses {
                    (at + self.params.l1, ServedBy::Cache(0))
                } else {
                    self.forward_with_line(line, at, below)
                };
                self.loaded(done, by);
                return true;
            }
            Pending::Some(number) => at = at.max(self.drain_store(line, number, below)),
        }
        self.load_below(line, at, below);
        true
    }

    /// When a pending store of `line` has what it writes, from another load. `None`: that is far, and the load that was
    /// to have it waits, too.
    fn forwarded_from(&mut self, line: LineAddr) -> Option<Time> {
        let store = self.stores.youngest(line);
        let after = store.map_or(0, |number| self.waiting.stored(number));
        let data = self.waiting.ready(after);
        if data <= self.front.now + self.params.near {
            return Some(data);
        }
        let can_wait = self.params.forward_misses
            && self.params.rob > 0
            && self.front.has_place()
            && !self.waiting.is_full()
            && self.atomics.is_empty();
        if !can_wait {
            // What it would hold up is held up by the store's own turn.
            return Some(Time::ZERO);
        }
        self.results.load_forwarded += 1;
        self.load_later(Gets::Forwarded, after);
        None
    }

    /// A load that is forwarded, but waits for its line, too. If the line comes only after all before
    /// the store has retired, a flush in between takes it away at once, and the load reads it again.
    fn forward_with_line<B: Below>(
        &mut self,
        line: LineAddr,
        at: Time,
        below: &mut B,
    ) -> (Time, ServedBy) {
        let (done, by) = self.fetch_later(line, at, below).0;
        let is_awaited = self.stores.ready(line).is_some_and(|ready| ready < done);
        if !is_awaited || !self.flushes.drops(line, &self.params) {
            return (done, by);
        }
        let mut again = done;
        if let Some(number) = self.stores.youngest(line) {
            again = again.max(self.drain_store(line, number, below));
        }
        while self.flushes.drops(line, &self.params) {
            self.settle_next(below);
        }
        self.fetch_later(line, again, below).0
    }

    /// A load of bytes of which pending stores have some. In a store buffer, which drains in order,
    /// dispatch waits until the youngest of them is in the cache; in a merging write buffer only the
    /// load does. Answers what is found then, if that does not depend on when it is looked for; `None`: it is not
    /// there yet.
    #[inline]
    fn wait_to_forward<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> Option<Option<Pending>> {
        if !matches!(self.stores, Stores::Ordered(_)) {
            return Some(None);
        }
        let found = self.stores.look(line, bytes, self.front.now);
        let Pending::Some(number) = found else {
            return Some(Some(found));
        };
        self.due_at(self.front.now);
        loop {
            if let Some(reached) = self.stores.reached(number) {
                self.stall(reached, Cause::StoreForward);
                return Some(None);
            }
            if !self.await_next(Cause::StoreForward, below) {
                return None;
            }
        }
    }

    /// Lets store `number` reach the cache. Answers when.
    pub(super) fn drain_store<B: Below>(
        &mut self,
        line: LineAddr,
        number: u64,
        below: &mut B,
    ) -> Time {
        self.stores.press(line, self.front.now);
        self.due_at(self.front.now);
        loop {
            if let Some(reached) = self.stores.reached(number) {
                return reached;
            }
            self.settle_next(below);
        }
    }
}
