//! What orders: fences, flushes, demotions, the thread's end.

use prestore_machine::Demote;
use prestore_trace::{FenceKind, FlushKind, LineAddr};

use super::flushes::Action;
use super::pipeline::{Core, NEVER};
use super::stalls::Cause;
use super::stores::Stores;
use crate::{Below, Time};

/// Who waits for what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A string instruction: for flushes and non-temporal stores.
    String,
    /// For stores, flushes and non-temporal stores.
    Fence,
    /// The same.
    Atomic,
    /// The thread's end: for all, demotions too.
    End,
}

impl Waiter {
    /// The causes of waiting for stores, and for the rest.
    fn causes(self) -> (Cause, Cause) {
        match self {
            Self::String => (Cause::Flush, Cause::Flush),
            Self::Fence => (Cause::FenceStores, Cause::FenceFlushes),
            Self::Atomic => (Cause::AtomicOrder, Cause::AtomicOrder),
            Self::End => (Cause::End, Cause::End),
        }
    }
}

/// When what a thread left pending is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drained {
    /// Its stores are visible.
    pub stores: Time,
    /// Its flushes and non-temporal stores are with the memory controller.
    pub flushes: Time,
}

impl Core {
    /// Everything that is pending goes: open write-combining buffers, held lines, flushes. Dispatch waits
    /// until what `waiter` waits for has. Answers when that is done; `None`: the operation under way must be
    /// left before.
    pub(super) fn drain<B: Below>(&mut self, waiter: Waiter, below: &mut B) -> Option<Drained> {
        let causes = waiter.causes();
        loop {
            self.catch_up(below);
            let any_leaves = self.leaves != NEVER;
            if !any_leaves && !self.under.drained {
                self.under.drained = true;
                self.ask_to_drain(below);
                continue;
            }
            let next = self.next_due();
            let awaited = any_leaves
                || match waiter {
                    Waiter::String => self.flushes.any() || self.stores.any_flush(),
                    Waiter::Fence | Waiter::Atomic => self.flushes.any() || self.stores.any(),
                    Waiter::End => next != NEVER,
                };
            if !awaited {
                break;
            }
            if self.stores.any_pending() {
                self.stall(next, causes.0);
            } else {
                self.stall(next.min(self.stores.visible()), causes.0);
                self.stall(next, causes.1);
            }
            if self.is_late() {
                return None;
            }
        }
        self.under.drained = false;
        let left = self.leaving.as_ref().map_or(Time::ZERO, |l| l.visible);
        let combined = self.combining.as_ref().map_or(Time::ZERO, |c| c.done);
        Some(Drained {
            stores: self.stores.visible().max(left),
            flushes: self.flushes.done.max(combined),
        })
    }

    /// What only waits to be asked goes.
    fn ask_to_drain<B: Below>(&mut self, below: &mut B) {
        let at = self.behind_leaving();
        let (stores, combining, mut env) = self.parts(below);
        if let Some(combining) = combining {
            combining.send_all(at, &mut env);
        }
        stores.press_all(at);
        self.due_at(self.front.now);
    }

    /// A string instruction begins when the flushes before it are done. Answers whether they are.
    #[inline(never)]
    pub(super) fn wait_for_flushes<B: Below>(&mut self, below: &mut B) -> bool {
        let Some(drained) = self.drain(Waiter::String, below) else {
            return false;
        };
        self.stall(drained.flushes, Cause::Flush);
        true
    }

    /// A store fence waits until stores are in the cache and flushes and non-temporal stores with
    /// the memory controller; a load fence until loads are done; a full fence for both. Demotions
    /// are not waited for.
    pub(super) fn fence<B: Below>(&mut self, kind: FenceKind, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.fences += 1;
        }
        let began = self.under.began(self.front.now);
        if kind != FenceKind::Store {
            if !self.wait_for_atomics(below) {
                return false;
            }
            self.stall(self.front.retired, Cause::FenceLoads);
            self.front.clear_window();
            if self.is_late() {
                return false;
            }
        }
        if kind != FenceKind::Load {
            let Some(drained) = self.drain(Waiter::Fence, below) else {
                return false;
            };
            self.stall(drained.stores, Cause::FenceStores);
            self.stall(drained.flushes, Cause::FenceFlushes);
        }
        let cost = match kind {
            FenceKind::Store => self.params.store_fence,
            FenceKind::Load | FenceKind::Full => self.params.fence,
        };
        self.front.issue(cost, &mut self.results);
        self.results.fence_latency.record(self.front.now - began);
        true
    }

    /// A flush costs its issue; it goes when older stores to its line are in the cache, an older
    /// flush of the line is taken and a fill buffer is free. A `clflush` of a TSO machine, on some all
    /// flushes, keeps its place among the stores: older ones before it, younger ones after it is taken.
    pub(super) fn flush<B: Below>(&mut self, addr: u64, kind: FlushKind, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.flushes += 1;
            self.front.issue(self.params.flush_issue, &mut self.results);
        }
        let Some(kind) = self.params.flush(kind) else {
            return true;
        };
        let line = LineAddr::of(addr, self.params.line_shift);
        let combined = self.send_combined(line, below).max(self.under.ready);
        if (kind == FlushKind::Clflush || self.params.flushes_in_order)
            && let Stores::Ordered(_) = self.stores
        {
            if !self.wait_for_entry(line, below) {
                self.under.ready = combined;
                return false;
            }
            let ready = self.front.now.max(self.front.retired).max(combined);
            if let Stores::Ordered(stores) = &mut self.stores {
                let due = stores.push_flush(line, kind, ready);
                self.due_at(due);
            }
            return true;
        }
        self.act_on(line, Action::Flush(kind), combined, below)
    }

    /// A demotion costs its issue, and nobody waits for it; what of it is a store's drain is waited
    /// for as that.
    pub(super) fn demote<B: Below>(&mut self, addr: u64, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.demotes += 1;
            self.front.issue(self.params.flush_issue, &mut self.results);
        }
        let line = LineAddr::of(addr, self.params.line_shift);
        match self.params.demote {
            Demote::Nop => true,
            Demote::FromWriteBuffer => {
                self.stores.press(line, self.front.now);
                self.due_at(self.front.now);
                true
            }
            Demote::ToSharedLevel => {
                let combined = self.send_combined(line, below).max(self.under.ready);
                self.act_on(line, Action::Demote, combined, below)
            }
        }
    }

    /// Queues a flush or a demotion behind the older stores to its line, once there is room. Answers
    /// whether there was.
    fn act_on<B: Below>(
        &mut self,
        line: LineAddr,
        action: Action,
        ready: Time,
        below: &mut B,
    ) -> bool {
        if self.flushes.is_full() {
            self.catch_up(below);
        }
        while self.flushes.is_full() {
            if !self.await_next(Cause::Flush, below) {
                self.under.ready = ready;
                return false;
            }
        }
        let now = self.front.now;
        self.stores.press(line, now);
        let after = self.stores.youngest(line).max(self.youngest_atomic());
        let ready = now.max(self.front.retired).max(ready);
        let before = self.stores.next_number();
        self.flushes.push(line, action, ready, (after, before));
        self.due_at(now);
        true
    }

    /// The thread ends after `instrs` instructions. What is pending and due by `limit` happens, and the clock
    /// goes on to what is due next; answers whether there is such.
    pub fn wind_down<B: Below>(&mut self, instrs: u64, limit: Time, below: &mut B) -> bool {
        self.limit = limit;
        if !self.reach(instrs, below) {
            return true;
        }
        self.drain(Waiter::End, below).is_none()
    }

    /// The thread sleeps. What it left pending happens as far as it is due by `limit`; answers when the
    /// next of that is due.
    pub fn rest<B: Below>(&mut self, limit: Time, below: &mut B) -> Option<Time> {
        self.limit = NEVER;
        self.leave_and_settle(limit, below);
        let next = self.next_due();
        (next != NEVER).then_some(next)
    }

    /// The thread ends after `instrs` instructions: everything pending completes. Answers when.
    pub fn finish<B: Below>(&mut self, instrs: u64, below: &mut B) -> Time {
        while self.wind_down(instrs, NEVER, below) {}
        let left = self.leaving.as_ref().map_or(Time::ZERO, |l| l.visible);
        let combined = self.combining.as_ref().map_or(Time::ZERO, |c| c.done);
        self.stall(self.front.retired, Cause::End);
        self.front.clear_window();
        let pending = [self.stores.visible(), self.flushes.done, left, combined];
        for done in pending {
            self.stall(done, Cause::End);
        }
        self.front.now
    }
}
