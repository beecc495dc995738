//! What the engine asks of a core, and of what lies below the cores.

use crate::cache::Filled;
use crate::memory::Fullness;
use crate::results::{Distributions, Latencies, SystemCounts, ThreadCounts};
use crate::{Below, Op, Time};

/// How far [`Pipeline::run`] came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// Operations that are done.
    pub done: usize,
    /// When the core came to the last of them.
    pub began: Time,
    /// When it came to the next, if that is begun and not done.
    pub left: Option<Time>,
}

/// A core with one thread on it, in the engine's eyes. It has a clock of its own; the engine lets
/// the core whose clock is furthest behind go on.
pub trait Pipeline {
    /// The core's clock: when the next operation may issue.
    fn now(&self) -> Time;

    /// When the core does something next, if its thread can go on: it issues, or something that it left
    /// pending is due. No later than [`Pipeline::now`].
    fn clock(&self) -> Time {
        self.now()
    }

    /// Executes the instructions before `op`, and `op`. Regions, hand-offs, awaits and allocations
    /// are no instructions: they only tell how far the thread came.
    fn step<B: Below>(&mut self, op: &Op, below: &mut B);

    /// The same, as far as it begins by `limit`, so that no core runs ahead of others: a fence goes on when
    /// what it waits for is due, a string instruction line by line. Answers whether `op` is done; if not, this is
    /// called again with it once it is the core's turn at [`Pipeline::clock`].
    #[inline]
    fn advance<B: Below>(&mut self, op: &Op, limit: Time, below: &mut B) -> bool {
        let _ = limit;
        self.step(op, below);
        true
    }

    /// Executes the loads and stores at the beginning of `ops`, each as [`Pipeline::advance`] would, as long as they
    /// begin by `limit`; fewer, or none, where that is not simpler. Before each, `before` is told how many were.
    #[inline]
    fn run<B: Below>(
        &mut self,
        ops: &[Op],
        limit: Time,
        below: &mut B,
        before: impl FnMut(usize, &B),
    ) -> Ran {
        let _ = (ops, limit, below, before);
        Ran::default()
    }

    /// When the data of the last load that was stepped is (or will be) at the core.
    fn load_done(&self) -> Time;

    /// When the operation before is visible to other cores: on a core that holds stores back, the
    /// time at which the last one's line is drained.
    fn visible_at<B: Below>(&mut self, below: &mut B) -> Time;

    /// What came before is handed to another thread. Answers when it is visible, if that is known
    /// already and of all that were handed over before; else [`Pipeline::handed_over`] will.
    #[inline]
    fn hand_off<B: Below>(&mut self, below: &mut B) -> Option<Time> {
        Some(self.visible_at(below))
    }

    /// When the oldest hand-off of which this was not told yet is visible, once it is known.
    #[inline]
    fn handed_over(&mut self) -> Option<Time> {
        None
    }

    /// The thread sleeps, and what it left pending happens by `limit`. Answers when the next of that is due.
    fn rest<B: Below>(&mut self, limit: Time, below: &mut B) -> Option<Time> {
        let _ = (limit, below);
        None
    }

    /// Nothing issues before `at`: the thread slept for another one.
    fn wait_until(&mut self, at: Time);

    /// Nothing issues before `at`: another thread had a lock.
    fn wait_for_lock(&mut self, at: Time) {
        self.wait_until(at);
    }

    /// The thread ends after `instrs` instructions, and may have left much behind that takes its time:
    /// what is due by `limit` happens, and the clock goes on to the next of that. Answers whether there is such;
    /// if not, the thread can finish.
    fn wind_down<B: Below>(&mut self, instrs: u64, limit: Time, below: &mut B) -> bool {
        let _ = (instrs, limit, below);
        false
    }

    /// The thread ends after `instrs` instructions: everything pending completes. Answers when.
    fn finish<B: Below>(&mut self, instrs: u64, below: &mut B) -> Time;

    /// What the core has counted since the start of the run.
    fn counts(&self) -> ThreadCounts;

    /// Adds its latencies since the start of the run to those of other cores.
    fn add_latencies(&self, sum: &mut Distributions);
}

/// Caches and memories in the engine's eyes.
pub trait Uncore: Below {
    /// Core `core` will access `addr` soon: a hint that makes a simulation faster and changes
    /// nothing in it.
    #[inline]
    fn soon(&self, core: u32, addr: u64) {
        let _ = (core, addr);
    }

    /// How full the furthest cache is.
    fn filled(&self) -> Filled {
        Filled::default()
    }

    /// `op`, an [`crate::OpKind::Alloc`], was executed by `core` at `at`: placement and memory types may follow.
    fn allocated(&mut self, core: u32, at: Time, op: &Op);

    /// If what is allocated does not fit into the machine: how full its memories are. Asked behind
    /// [`Uncore::allocated`].
    fn overfull(&mut self) -> Option<Vec<Fullness>> {
        None
    }

    /// The allocation that starts at `addr` was returned by `core` at `at`.
    fn freed(&mut self, core: u32, at: Time, addr: u64);

    /// What is buffered in devices goes to their media (the end of the run), so that its bytes are
    /// counted. Lines that are dirty in caches stay there.
    fn drain(&mut self, at: Time);

    /// What was counted since the start of the run.
    fn counts(&self) -> SystemCounts;

    /// Latencies of reads, by memory, since the start of the run.
    fn read_latencies(&self) -> Vec<Latencies>;
}
