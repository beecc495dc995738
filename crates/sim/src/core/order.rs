//! What orders: fences, atomics, flushes, demotions, the thread's end.

use prestore_machine::Demote;
use prestore_trace::{FenceKind, FlushKind, LineAddr};

use super::bytes;
use super::flushes::Action;
use super::pipeline::Core;
use super::stalls::Cause;
use super::stores::Stores;
use crate::{Below, Time};

/// When what a thread left pending is done.
#[derive(Clone, Copy, Debug)]
struct Drained {
    /// Its stores are visible.
    stores: Time,
    /// Its flushes and non-temporal stores are with the memory controller.
    flushes: Time,
}

impl Core {
    /// Everything that is pending goes now: open write-combining buffers, held lines, flushes.
    fn drain<B: Below>(&mut self, below: &mut B) -> Drained {
        let combined = self.begin_drain(below);
        self.settle(Time(u64::MAX), below);
        let left = self.leaving.as_ref().map_or(Time::ZERO, |l| l.visible);
        Drained {
            stores: self.stores.visible().max(left),
            flushes: self.flushes.done.max(combined),
        }
    }

    /// What only waits to be asked goes. Answers when open write-combining buffers are with the memory
    /// controller.
    fn begin_drain<B: Below>(&mut self, below: &mut B) -> Time {
        self.leave(Time(u64::MAX), below);
        let at = self.behind_leaving();
        let (stores, combining, mut env) = self.parts(below);
        let mut combined = Time::ZERO;
        if let Some(combining) = combining {
            combining.send_all(at, &mut env);
            combined = combining.done;
        }
        stores.press_all(at);
        combined
    }

    /// A string instruction begins when the flushes before it are done.
    #[inline(never)]
    pub(super) fn wait_for_flushes<B: Below>(&mut self, below: &mut B) {
        let drained = self.drain(below);
        self.stall(drained.flushes, Cause::Flush);
    }

    /// A store fence waits until stores are in the cache and flushes and non-temporal stores with
    /// the memory controller; a load fence until loads are done; a full fence for both. Demotions
    /// are not waited for.
    pub(super) fn fence<B: Below>(&mut self, kind: FenceKind, below: &mut B) {
        self.results.ops.fences += 1;
        let began = self.front.now;
        if kind != FenceKind::Store {
            self.stall(self.front.retired, Cause::FenceLoads);
            self.front.clear_window();
        }
        if kind != FenceKind::Load {
            let drained = self.drain(below);
            self.stall(drained.stores, Cause::FenceStores);
            self.stall(drained.flushes, Cause::FenceFlushes);
        }
        let cost = match kind {
            FenceKind::Store => self.params.store_fence,
            FenceKind::Load | FenceKind::Full => self.params.fence,
        };
        self.front.issue(cost, &mut self.results);
        self.results.fence_latency.record(self.front.now - began);
    }

    /// A full fence, then the write to a line that must be owned. On TSO the line is asked for while
    /// older stores drain, and the write comes after both; on a weak machine, where the fence inside
    /// is a barrier of its own, the line is asked for after it. A line that was lost meanwhile is
    /// taken back by the write.
    pub(super) fn atomic<B: Below>(&mut self, addr: u64, size: u32, below: &mut B) {
        self.results.ops.atomics += 1;
        let began = self.front.now;
        let shift = self.params.line_shift;
        let size = u64::from(size.max(1));
        let is_early = matches!(self.stores, Stores::Ordered(_));
        let mut owned = Time::ZERO;
        if is_early {
            owned = self.own_lines(addr, size, below);
        }
        let drained = self.drain(below);
        let before = drained.stores.max(drained.flushes);
        self.stall(before.max(self.front.retired), Cause::AtomicOrder);
        self.front.clear_window();
        if !is_early {
            owned = self.own_lines(addr, size, below);
        }
        self.stall(owned, Cause::AtomicLine);
        let now = self.front.now;
        let mut reached = now;
        for (line, bytes) in bytes::lines(addr, size, shift) {
            let (_, _, mut env) = self.parts(below);
            reached = reached.max(env.write(now, line, bytes).0);
        }
        self.stall(reached, Cause::AtomicLine);
        self.front.issue(self.params.atomic, &mut self.results);
        self.results.atomic_latency.record(self.front.now - began);
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
                env.own_filled(at, line, false)
            };
            owned = owned.max(one);
        }
        owned
    }

    /// A flush costs its issue; it goes when older stores to its line are in the cache, an older
    /// flush of the line is taken and a fill buffer is free. A `clflush` of a TSO machine keeps its
    /// place among the stores: older ones before it, younger ones after it is taken.
    pub(super) fn flush<B: Below>(&mut self, addr: u64, kind: FlushKind, below: &mut B) {
        self.results.ops.flushes += 1;
        self.front.issue(self.params.flush_issue, &mut self.results);
        let Some(kind) = self.params.flush(kind) else {
            return;
        };
        let line = LineAddr::of(addr, self.params.line_shift);
        let combined = self.send_combined(line, below);
        if kind == FlushKind::Clflush
            && let Stores::Ordered(_) = self.stores
        {
            self.wait_for_entry(line, below);
            let ready = self.front.now.max(self.front.retired).max(combined);
            if let Stores::Ordered(stores) = &mut self.stores {
                let due = stores.push_clflush(line, kind, ready);
                self.due_at(due);
            }
            return;
        }
        self.act_on(line, Action::Flush(kind), combined, below);
    }

    /// A demotion costs its issue, and nobody waits for it; what of it is a store's drain is waited
    /// for as that.
    pub(super) fn demote<B: Below>(&mut self, addr: u64, below: &mut B) {
        self.results.ops.demotes += 1;
        self.front.issue(self.params.flush_issue, &mut self.results);
        let line = LineAddr::of(addr, self.params.line_shift);
        match self.params.demote {
            Demote::Nop => {}
            Demote::FromWriteBuffer => {
                self.stores.press(line, self.front.now);
                self.due_at(self.front.now);
            }
            Demote::ToSharedLevel => {
                let combined = self.send_combined(line, below);
                self.act_on(line, Action::Demote, combined, below);
            }
        }
    }

    /// Queues a flush or a demotion behind the older stores to its line.
    fn act_on<B: Below>(&mut self, line: LineAddr, action: Action, ready: Time, below: &mut B) {
        if self.flushes.is_full() {
            self.settle(self.front.now, below);
        }
        while self.flushes.is_full() {
            let due = self.due;
            self.settle_next(below);
            self.stall(due, Cause::Flush);
        }
        let now = self.front.now;
        self.stores.press(line, now);
        let after = self.stores.youngest(line);
        let ready = now.max(self.front.retired).max(ready);
        self.flushes.push(line, action, ready, after);
        self.due_at(now);
    }

    /// When everything stored so far is visible to other cores: what a hand-off to another thread
    /// takes. A weak core's held lines go now, as before a store-release; the clock does not wait.
    pub fn visible_at<B: Below>(&mut self, below: &mut B) -> Time {
        let drained = self.drain(below);
        let combined = self.combining.as_ref().map_or(Time::ZERO, |c| c.done);
        self.front.now.max(drained.stores).max(combined)
    }

    /// The thread ends after `instrs` instructions. What is pending and due now happens, and the clock goes on to
    /// what is due next; answers whether there is such.
    pub fn wind_down<B: Below>(&mut self, instrs: u64, below: &mut B) -> bool {
        self.run_to(instrs, below);
        self.begin_drain(below);
        self.settle(self.front.now, below);
        let next = self.due;
        if next == Time(u64::MAX) {
            return false;
        }
        self.stall(next, Cause::End);
        true
    }

    /// The thread ends after `instrs` instructions: everything pending completes. Answers when.
    pub fn finish<B: Below>(&mut self, instrs: u64, below: &mut B) -> Time {
        self.run_to(instrs, below);
        let drained = self.drain(below);
        self.stall(self.front.retired, Cause::End);
        self.front.clear_window();
        self.stall(drained.stores.max(drained.flushes), Cause::End);
        self.front.now
    }
}
