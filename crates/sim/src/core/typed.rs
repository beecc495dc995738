//! Accesses to memory that is not write-back.
//!
//! | type | loads | stores |
//! |---|---|---|
//! | write-through | as write-back | leave the store path in their order, each when memory has taken the one before; no line is asked for |
//! | write-combining | from memory, one after the other, behind older stores to the line | as non-temporal ones; where there are no buffers for those, out of the merging write buffer |
//! | uncacheable | from memory, one after the other, when all before has retired and older uncacheable stores are done | as write-through ones, past the caches |
//!
//! Uncacheable accesses send open write-combining buffers first (Intel SDM, volume 3, 12.3.1). A type is
//! that of the moment at which the operation is executed.

use prestore_machine::MemoryType;
use prestore_trace::LineAddr;

use super::bytes;
use super::pipeline::Core;
use super::stalls::Cause;
use super::stores::{Stores, Way};
use crate::{Below, ByteMask, Stored, Time};

/// What is known of accesses that pass the caches.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncached {
    /// When the last of them is done: the next begins then.
    done: Time,
    /// The youngest uncacheable store in the store path.
    youngest: Option<u64>,
}

impl Core {
    /// A store to memory of this type. Answers whether it is done.
    #[inline(never)]
    pub(super) fn store_typed<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        of: MemoryType,
        below: &mut B,
    ) -> bool {
        match of {
            MemoryType::WriteBack => self.push_store::<B, false>(line, bytes, Way::Cached, below),
            MemoryType::WriteThrough => {
                self.push_store::<B, false>(line, bytes, Way::Through, below)
            }
            MemoryType::WriteCombining if self.combining.is_some() => {
                self.combine_store(line, bytes, below)
            }
            MemoryType::WriteCombining if self.params.merges => {
                self.push_store::<B, false>(line, bytes, Way::Around, below)
            }
            MemoryType::WriteCombining | MemoryType::Uncacheable => {
                self.store_uncacheable(line, bytes, below)
            }
        }
    }

    fn store_uncacheable<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> bool {
        let combined = self.send_all_combined(below);
        if let Stores::Ordered(_) = self.stores {
            self.under.ready = self.under.ready.max(combined);
            if !self.push_store::<B, false>(line, bytes, Way::Around, below) {
                return false;
            }
            self.uncached.youngest = Some(self.stores.newest());
            return true;
        }
        if !self.wait_for_uncached(below) {
            return false;
        }
        let at = self.front.now.max(self.front.retired).max(combined);
        let taken = self.send_past(MemoryType::Uncacheable, at, line, bytes, below);
        self.uncached.done = taken;
        // A fence waits for it.
        self.flushes.done = self.flushes.done.max(taken);
        true
    }

    /// A load of memory that is not cached. Answers whether it could be sent.
    #[inline(never)]
    pub(super) fn load_uncached<B: Below>(
        &mut self,
        line: LineAddr,
        of: MemoryType,
        below: &mut B,
    ) -> bool {
        if of == MemoryType::Uncacheable {
            self.send_all_combined(below);
        }
        if !self.wait_for_uncached(below) {
            return false;
        }
        let mut at = self.front.load_port(&self.params, &mut self.results);
        if of == MemoryType::Uncacheable {
            at = at.max(self.front.retired);
        }
        if let Some(number) = self.stores.youngest(line) {
            at = at.max(self.drain_store(line, number, below));
        }
        at = at.max(self.send_combined(line, below));
        at = self.fills.combined_until(line, at).unwrap_or(at);
        let at = self.fills.free_at(at);
        let served = below.load_around(self.params.id, at, line);
        self.fills.take(line, at, served);
        self.results.load_latency.record(served.done - at);
        self.uncached.done = served.done;
        self.loaded(served.done, served.by);
        true
    }

    /// Waits until the uncached accesses before are done. Answers whether they are.
    fn wait_for_uncached<B: Below>(&mut self, below: &mut B) -> bool {
        while let Some(youngest) = self.uncached.youngest {
            if let Some(reached) = self.stores.reached(youngest) {
                self.uncached.done = self.uncached.done.max(reached);
                self.uncached.youngest = None;
            } else if !self.await_next(Cause::Uncached, below) {
                return false;
            }
        }
        self.stall(self.uncached.done, Cause::Uncached);
        !self.is_late()
    }

    /// An atomic on memory that is not write-back: behind all before it, a read, then a write. Answers whether it
    /// is done.
    #[inline(never)]
    pub(super) fn atomic_typed<B: Below>(
        &mut self,
        addr: u64,
        size: u64,
        of: MemoryType,
        below: &mut B,
    ) -> bool {
        let began = self.under.began(self.front.now);
        if !self.begin_atomic(below) {
            return false;
        }
        self.stall(self.uncached.done, Cause::AtomicLine);
        for (line, bytes) in bytes::lines(addr, size, self.params.line_shift) {
            let now = self.front.now;
            let read = match of {
                MemoryType::WriteThrough => self.fetch_later(line, now, below).0.0,
                _ => below.load_around(self.params.id, now, line).done,
            };
            self.stall(read, Cause::AtomicLine);
            let taken = self.send_past(of, self.front.now, line, bytes, below);
            self.stall(taken, Cause::AtomicLine);
        }
        self.end_atomic(began);
        true
    }

    /// Bytes of the store under way go to memory now. Answers when that has taken them.
    fn send_past<B: Below>(
        &mut self,
        of: MemoryType,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> Time {
        let name = [self.name(bytes)];
        let by: &[Stored] = if B::NAMES { &name } else { &[] };
        match of {
            MemoryType::WriteThrough => below.write_through(self.params.id, at, line, bytes, by),
            _ => below.write_around(self.params.id, at, line, bytes, by),
        }
    }

    /// Sends all write-combining buffers, those of stores that have not left, too. Answers when memory has
    /// taken them.
    fn send_all_combined<B: Below>(&mut self, below: &mut B) -> Time {
        if self.combining.is_none() {
            return Time::ZERO;
        }
        self.leave_all(below);
        let at = self.behind_leaving();
        let (_, combining, mut env) = self.parts(below);
        let Some(combining) = combining else {
            return Time::ZERO;
        };
        combining.send_all(at, &mut env);
        let done = combining.done;
        self.due_at(at);
        done
    }
}
