//! Atomics: a full fence and a write in one, which what follows may overtake in time but not in order.

use std::collections::VecDeque;

use prestore_machine::MemoryType;
use prestore_trace::LineAddr;

use super::bytes;
use super::flushes::StoreNumber;
use super::order::Waiter;
use super::pipeline::{Core, NEVER};
use super::stalls::Cause;
use super::stores::Stores;
use crate::{Asks, Below, Stored, Time};

/// An atomic that is among the stores.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: StoreNumber,
    instr: u64,
    began: Time,
}

/// Atomics that were dispatched and are not done, the oldest first. What comes after them has been dispatched as
/// far as the reorder window reaches.
#[derive(Clone, Debug, Default)]
pub(super) struct Atomics {
    pending: VecDeque<Pending>,
    /// When the youngest that is done was.
    done: Time,
}

impl Atomics {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl Core {
    /// A full fence, then the write to a line that must be owned.
    pub(super) fn atomic<B: Below>(&mut self, addr: u64, size: u32, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.atomics += 1;
        }
        let size = u64::from(size.max(1));
        if B::TYPES {
            let line = LineAddr::of(addr, self.params.line_shift);
            let of = below.memory_type(self.params.id, line);
            if of != MemoryType::WriteBack {
                return self.atomic_typed(addr, size, of, below);
            }
        }
        if self.under.steps == 0 && self.can_be_overtaken(addr, size) {
            self.queue_atomic(addr, size, below)
        } else {
            self.wait_for_atomic(addr, size, below)
        }
    }

    /// Only stores are before it, among which it can stand.
    fn can_be_overtaken(&self, addr: u64, size: u64) -> bool {
        let now = self.front.now;
        let shift = self.params.line_shift;
        let within = addr & ((1 << shift) - 1);
        let combined = self.combining.as_ref();
        self.params.atomics_overlap
            && self.params.rob > 0
            && within + size <= 1 << shift
            && !self.flushes.any()
            && self.flushes.done <= now
            && combined.is_none_or(|c| !c.any_open() && c.done <= now)
            && self.leaves == NEVER
            && self.leaving.as_ref().is_none_or(|l| l.visible <= now)
    }

    /// The atomic takes its place among the stores: it is done when they have left and its line is there. Nothing
    /// is dispatched that is farther behind it than the reorder window is large.
    fn queue_atomic<B: Below>(&mut self, addr: u64, size: u64, below: &mut B) -> bool {
        let shift = self.params.line_shift;
        let Some((line, bytes)) = bytes::lines(addr, size, shift).next() else {
            return true;
        };
        if !self.wait_for_entry(line, below) {
            return false;
        }
        let began = self.under.began(self.front.now);
        let ready = self.front.now.max(self.front.retired);
        if let Stores::Ordered(stores) = &mut self.stores {
            let number = stores.next_number();
            let due = stores.push_atomic(line, bytes, ready);
            self.atomics.pending.push_back(Pending {
                number,
                instr: self.front.instr,
                began,
            });
            self.due_at(due);
            if B::NAMES {
                let name = self.name(bytes);
                self.names.store(number, name);
            }
        }
        self.front.issue(self.params.atomic, &mut self.results);
        true
    }

    /// The youngest atomic, if it is still among the stores.
    #[inline]
    pub(super) fn youngest_atomic(&self) -> Option<StoreNumber> {
        let youngest = self.atomics.pending.back()?.number;
        // Not yet retired, it may have left all the same.
        self.stores.reached(youngest).is_none().then_some(youngest)
    }

    /// Notes which atomics are done.
    #[inline]
    pub(super) fn retire_atomics(&mut self) {
        if !self.atomics.is_empty() {
            self.retire_those_done();
        }
    }

    fn retire_those_done(&mut self) {
        let Stores::Ordered(stores) = &mut self.stores else {
            return;
        };
        while let Some(done) = stores.atomic_done() {
            if let Some(atomic) = self.atomics.pending.pop_front() {
                let latency = done.since(atomic.began) + self.params.atomic;
                self.results.atomic_latency.record(latency);
                self.front.retired = self.front.retired.max(done);
                self.atomics.done = done;
            }
        }
    }

    /// Dispatches no farther than the reorder window reaches behind an atomic that is not done, and waits for that
    /// one if `instr` is farther. Answers whether it is done.
    #[inline]
    pub(super) fn reach_behind_atomics<B: Below>(&mut self, instr: u64, below: &mut B) -> bool {
        while let Some(oldest) = self.atomics.pending.front().copied() {
            let limit = oldest.instr + self.params.rob;
            if limit > instr {
                break;
            }
            self.front.dispatch(limit, &self.params, &mut self.results);
            self.catch_up(below);
            let is_oldest = |atomic: &Pending| atomic.number == oldest.number;
            while self.atomics.pending.front().is_some_and(is_oldest) {
                if !self.await_next(Cause::AtomicOrder, below) {
                    return false;
                }
                self.retire_atomics();
            }
            self.stall(self.atomics.done, Cause::AtomicOrder);
        }
        true
    }

    /// Lets all atomics get done. Answers whether they are.
    pub(super) fn wait_for_atomics<B: Below>(&mut self, below: &mut B) -> bool {
        if self.atomics.is_empty() {
            return true;
        }
        self.due_at(self.front.now);
        while !self.atomics.is_empty() {
            if !self.await_next(Cause::AtomicOrder, below) {
                return false;
            }
            self.retire_atomics();
        }
        self.stall(self.atomics.done, Cause::AtomicOrder);
        true
    }

    /// On TSO the line is asked for while older stores drain, and the write comes after both; on a weak machine, where
    /// the fence inside is a barrier of its own, the line is asked for after it. A line that was lost meanwhile is
    /// taken back by the write; between a request for the line and the write behind it no other core has its turn,
    /// unless older stores drain meanwhile. Dispatch waits.
    fn wait_for_atomic<B: Below>(&mut self, addr: u64, size: u64, below: &mut B) -> bool {
        let began = self.under.began(self.front.now);
        let is_early = matches!(self.stores, Stores::Ordered(_));
        if is_early && self.under.steps == 0 {
            if B::REFUSES && !self.let_own(addr, size, below) {
                return false;
            }
            self.under.ready = self.own_lines(addr, size, below);
        }
        if !self.begin_atomic(below) {
            return false;
        }
        if !is_early {
            if B::REFUSES && !self.let_own(addr, size, below) {
                return false;
            }
            self.under.ready = self.own_lines(addr, size, below);
        }
        self.stall(self.under.ready, Cause::AtomicLine);
        let now = self.front.now;
        let mut reached = now;
        for (line, bytes) in bytes::lines(addr, size, self.params.line_shift) {
            let name = [self.name(bytes)];
            let by: &[Stored] = if B::NAMES { &name } else { &[] };
            let (_, _, mut env) = self.parts(below);
            reached = reached.max(env.write(now, line, bytes, by).0);
        }
        self.stall(reached, Cause::AtomicLine);
        self.end_atomic(began);
        true
    }

    /// What was before an atomic is done. Answers whether it is.
    pub(super) fn begin_atomic<B: Below>(&mut self, below: &mut B) -> bool {
        if self.under.steps == 2 {
            return true;
        }
        self.under.steps = 1;
        let Some(drained) = self.drain(Waiter::Atomic, below) else {
            return false;
        };
        let before = drained.stores.max(drained.flushes);
        self.stall(before.max(self.front.retired), Cause::AtomicOrder);
        self.front.clear_window();
        self.under.steps = 2;
        !self.is_late()
    }

    /// An atomic that `began` then is done.
    pub(super) fn end_atomic(&mut self, began: Time) {
        self.front.issue(self.params.atomic, &mut self.results);
        self.results.atomic_latency.record(self.front.now - began);
        self.under.end();
    }

    /// Waits while who has the lines of an atomic refuses to give them up. Answers whether it may ask for them.
    fn let_own<B: Below>(&mut self, addr: u64, size: u64, below: &mut B) -> bool {
        bytes::lines(addr, size, self.params.line_shift)
            .all(|(line, _)| self.let_in(line, Asks::Own, Cause::AtomicLine, below))
    }

    /// Asks for the lines of an atomic. Answers when all are owned.
    fn own_lines<B: Below>(&mut self, addr: u64, size: u64, below: &mut B) -> Time {
        let now = self.front.now;
        let mut owned = now;
        for (line, _) in bytes::lines(addr, size, self.params.line_shift) {
            let combined = self.send_combined(line, below);
            let (_, _, mut env) = self.parts(below);
            let one = if env.below.owned(env.params.id, line) {
                env.fills.find(line, now).map_or(now, |fill| fill.until)
            } else {
                let at = env.fills.free_at(now.max(combined));
                env.own_filled(at, line, false).done
            };
            owned = owned.max(one);
        }
        owned
    }
}
