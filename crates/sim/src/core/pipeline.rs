//! A core: its parts, its clock, and what is due when.

use prestore_machine::{Machine, MemoryModel};

use super::atomics::Atomics;
use super::env::Env;
use super::fills::FillBuffers;
use super::flushes::Flushes;
use super::front::FrontEnd;
use super::handing::Handing;
use super::names::Names;
use super::non_temporal::{Combining, Leaving};
use super::params::Params;
use super::results::CoreResults;
use super::stalls::Cause;
use super::stores::{Run, Stores};
use super::typed::Uncached;
use super::under::Under;
use super::waiting::Waiting;
use crate::{Below, Op, OpKind, Time};

/// No time is known.
pub(super) const NEVER: Time = Time(u64::MAX);

/// A core with one thread on it.
///
/// It executes operations in the order in which they come, each at the core's clock, and lets the
/// clock go on as the machine's description says. Neither hand-offs and locks
/// nor regions and allocations do anything here: see [`Core::hand_off`], [`Core::wait_until`] and
/// [`Core::wait_for_lock`].
#[derive(Clone, Debug)]
pub struct Core {
    pub(super) params: Params,
    pub(super) front: FrontEnd,
    pub(super) fills: FillBuffers,
    pub(super) stores: Stores,
    pub(super) combining: Option<Combining>,
    pub(super) leaving: Option<Leaving>,
    pub(super) flushes: Flushes,
    pub(super) results: CoreResults,
    /// Nothing that is pending is due before, but for non-temporal stores that leave.
    pub(super) due: Time,
    /// When the next of those leaves.
    pub(super) leaves: Time,
    /// Nothing begins behind it: other cores have their turn first.
    pub(super) limit: Time,
    /// The operation that is under way.
    pub(super) under: Under,
    pub(super) handing: Handing,
    pub(super) atomics: Atomics,
    pub(super) names: Names,
    pub(super) uncached: Uncached,
    pub(super) waiting: Waiting,
}

impl Core {
    /// Core number `id` of `machine`, at the start of the run.
    pub fn new(id: u32, machine: &Machine) -> Self {
        let params = Params::new(id, machine);
        Self {
            front: FrontEnd::new(&params),
            params,
            fills: FillBuffers::new(machine.core.fill_buffers, machine.core.flush_buffers),
            stores: Stores::new(machine),
            combining: Combining::new(machine),
            leaving: Leaving::new(machine),
            flushes: Flushes::new(&machine.core),
            results: CoreResults::new(machine.caches.len(), machine.memories.len()),
            due: NEVER,
            leaves: NEVER,
            limit: NEVER,
            under: Under::default(),
            handing: Handing::default(),
            atomics: Atomics::default(),
            names: Names::default(),
            uncached: Uncached::default(),
            waiting: Waiting::new(machine.core.memory_model == MemoryModel::Weak),
        }
    }

    /// The core's clock: when the next instruction can dispatch.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.front.now
    }

    /// The core, which has executed nothing yet, begins at `at` with the instruction of number `instr`.
    pub fn begin(&mut self, at: Time, instr: u64) {
        self.front.begin(at, instr);
        self.results.instructions = instr;
    }

    /// What the core has counted since the start of the run.
    pub fn results(&self) -> &CoreResults {
        &self.results
    }

    /// When the data of the last load is (or will be) at the core.
    #[inline]
    pub fn load_done(&self) -> Time {
        self.front.load_done
    }

    /// When the core does something next, if it has more to execute: it dispatches, or something that is
    /// pending is due.
    #[inline(always)]
    pub fn clock(&self) -> Time {
        self.front.now.min(self.next_due())
    }

    /// When the next of all that is pending is due.
    #[inline(always)]
    pub(super) fn next_due(&self) -> Time {
        self.due.min(self.leaves)
    }

    /// Executes `op`, however long that takes.
    #[inline]
    pub fn step<B: Below>(&mut self, op: &Op, below: &mut B) {
        while !self.advance(op, NEVER, below) {}
    }

    /// Executes `op` as far as that can begin by `limit`. Answers whether it is done; if not, its next
    /// part begins at [`Core::clock`], and it goes on when this is called again.
    #[inline(always)]
    pub fn advance<B: Below>(&mut self, op: &Op, limit: Time, below: &mut B) -> bool {
        self.limit = limit;
        if !self.reach(op.instr, below) {
            return false;
        }
        if B::NAMES {
            self.names.site = op.site;
        }
        let began = self.front.now;
        let done = self.execute(op, below);
        if !done {
            self.under.leave(began);
        } else if !self.under.is_new() {
            self.under.end();
        }
        done
    }

    #[inline(always)]
    fn execute<B: Below>(&mut self, op: &Op, below: &mut B) -> bool {
        if self.waiting.any() && op.kind.follows_loads() && !self.wait_for_loads(below) {
            return false;
        }
        match op.kind {
            OpKind::Load => self.load::<B, false>(op, below),
            OpKind::Store => self.store::<B, false>(op, below),
            OpKind::NtStore => self.nt_store(op.addr, op.size, below),
            OpKind::Atomic => self.atomic(op.addr, op.size, below),
            OpKind::Flush(kind) => self.flush(op.addr, kind, below),
            OpKind::Demote(_) => self.demote(op.addr, below),
            OpKind::Fence(kind) => self.fence(kind, below),
            OpKind::RegionBegin
            | OpKind::RegionEnd
            | OpKind::HandOff
            | OpKind::Await
            | OpKind::Acquire
            | OpKind::Release
            | OpKind::Alloc { .. }
            | OpKind::Free => true,
        }
    }

    /// Dispatches the instructions up to number `instr`, and does what is due meanwhile, by the
    /// limit. Answers whether that is all: whether the next may begin.
    #[inline(always)]
    pub(super) fn reach<B: Below>(&mut self, instr: u64, below: &mut B) -> bool {
        if !self.atomics.is_empty() && !self.reach_behind_atomics(instr, below) {
            return false;
        }
        if self.waiting.any() && !self.reach_behind_loads(instr, below) {
            return false;
        }
        self.front.dispatch(instr, &self.params, &mut self.results);
        self.catch_up(below);
        !self.is_late()
    }

    /// Does what is due by now and by the limit.
    #[inline(always)]
    pub(super) fn catch_up<B: Below>(&mut self, below: &mut B) {
        self.leave_and_settle(self.front.now.min(self.limit), below);
        self.retire_atomics();
    }

    /// Has the clock passed the limit, so that others come first?
    #[inline(always)]
    pub(super) fn is_late(&self) -> bool {
        self.front.now > self.limit
    }

    /// Waits for what is due next, because of `cause`, and does it. Answers whether it could: if that is
    /// behind the limit, the operation under way must be left, and tries again.
    pub(super) fn await_next<B: Below>(&mut self, cause: Cause, below: &mut B) -> bool {
        self.stall(self.due, cause);
        if self.is_late() {
            return false;
        }
        self.settle(self.front.now, below);
        true
    }

    /// Nothing dispatches before `at`: another thread had a lock.
    pub fn wait_for_lock(&mut self, at: Time) {
        self.stall(at, Cause::Lock);
    }

    /// Nothing dispatches before `at`: the thread waited for another one.
    pub fn wait_until(&mut self, at: Time) {
        self.stall(at, Cause::Await);
    }

    #[inline(always)]
    pub(super) fn stall(&mut self, until: Time, cause: Cause) {
        self.front.stall(until, cause, &mut self.results);
    }

    /// Something is due at `at` that was not known of.
    #[inline(always)]
    pub(super) fn due_at(&mut self, at: Time) {
        self.due = self.due.min(at);
    }

    /// The store path, and what it acts on.
    #[inline(always)]
    pub(super) fn parts<'a, B>(
        &'a mut self,
        below: &'a mut B,
    ) -> (&'a mut Stores, &'a mut Option<Combining>, Env<'a, B>) {
        let env = Env {
            params: &self.params,
            fills: &mut self.fills,
            results: &mut self.results,
            names: &mut self.names,
            below,
        };
        (&mut self.stores, &mut self.combining, env)
    }

    /// Does everything that is due by `until`, in order of time.
    #[inline(always)]
    pub(super) fn settle<B: Below>(&mut self, until: Time, below: &mut B) {
        if self.waiting.any() {
            self.settle_loads(until, below);
        } else {
            self.settle_stores(until, below);
        }
    }

    /// The same, but for loads that wait.
    #[inline(always)]
    pub(super) fn settle_stores<B: Below>(&mut self, until: Time, below: &mut B) {
        if self.handing.is_empty() {
            self.settle_through(until, below);
        } else {
            self.settle_watching(until, below);
        }
    }

    pub(super) fn settle_through<B: Below>(&mut self, until: Time, below: &mut B) {
        let mut env = Env {
            params: &self.params,
            fills: &mut self.fills,
            results: &mut self.results,
            names: &mut self.names,
            below,
        };
        if self.flushes.is_empty() {
            // Until the store path is done: nothing of what it does begins a flush.
            self.due = self.stores.run_alone(until, &mut self.flushes, &mut env);
            return;
        }
        loop {
            let flush = self.flushes.next(env.fills);
            let limit = flush.map_or(until, |(at, _)| at.min(until));
            let Run::Idle(next) = self.stores.run(limit, &mut self.flushes, &mut env) else {
                continue;
            };
            // The stores may have taken the fill buffer that the flush was to have.
            let flush = self.flushes.next(env.fills);
            match flush {
                Some((at, which)) if at <= until && at <= next => {
                    self.flushes.send(which, at, &mut env);
                }
                _ => {
                    self.due = flush.map_or(next, |(at, _)| at.min(next));
                    if self.due > until || self.due == Time(u64::MAX) {
                        return;
                    }
                }
            }
        }
    }

    /// Does the next thing that is due, whenever that is.
    pub(super) fn settle_next<B: Below>(&mut self, below: &mut B) {
        let due = self.due.max(self.front.now);
        self.settle(due, below);
    }
}
