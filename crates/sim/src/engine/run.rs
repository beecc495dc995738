//! The loop: threads go on in order of simulated time.

mod behind;
mod plainly;

use super::erased::AnyMechanism;
use super::error::SimulationError;
use super::handoffs::HandOffs;
use super::helpers::{Come, Helpers};
use super::locks::Locks;
use super::pipeline::{Pipeline, Uncore};
use super::ready::Ready;
use super::sampled::{Left, Unit};
use super::source::Source;
use super::thread::Thread;
use super::window::{Interest, Window};
use crate::Time;
use crate::doors::{Agents, NoAgents};
use crate::mechanism::Mechanism;
use crate::results::{Measured, Meter};
use behind::Next;

/// What a run needs to know beside its parts.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Which part is measured.
    pub interest: Interest,
    /// Operations that are simulated before anything is measured.
    pub warmup: u64,
    /// How far a core may run ahead of the one that is furthest behind.
    pub quantum: Time,
    /// A trace that ends early: threads that wait for what never comes end there.
    pub lenient: bool,
}

/// A run under way.
pub struct Run<'a, S, P, U, A = NoAgents> {
    source: &'a mut S,
    mechanism: &'a mut dyn AnyMechanism,
    pub(super) threads: Vec<Thread<P>>,
    pub(super) uncore: U,
    pub(super) ready: Ready,
    pub(super) handoffs: HandOffs,
    pub(super) locks: Locks,
    pub(super) window: Window,
    pub(super) meter: Meter,
    pub(super) plan: Plan,
    pub(super) ops: u64,
    pub(super) end: Time,
    pub(super) helpers: Helpers<A>,
    /// What was handed over or released and is not visible yet, or was not looked at since.
    pub(super) pledges: usize,
    /// A hand-off or a release has woken a thread.
    pub(super) woken: bool,
    /// Only a part of the run is simulated.
    pub(super) unit: Option<Unit>,
}

/// What a finished run leaves.
#[derive(Debug)]
pub struct Finished {
    /// What was measured.
    pub measured: Measured,
    /// Operations executed, measured or not.
    pub ops: u64,
    /// Threads that waited for a hand-off that never came, where that is allowed.
    pub stuck: Vec<(u32, u64)>,
    /// How often nobody could go on, and somebody was given a lock that another thread had.
    pub broken_locks: u64,
}

/// How a thread's turn ended.
pub(super) enum Turn {
    /// It can go on.
    Ready,
    /// It waits for a hand-off or a lock; what it left pending is due then.
    Parked(Option<Time>),
    /// It has nothing more to do.
    Ended,
}

impl<'a, S: Source, P: Pipeline, U: Uncore> Run<'a, S, P, U> {
    /// Threads 0, 1, … on `cores`.
    pub fn new(
        source: &'a mut S,
        mechanism: &'a mut impl Mechanism,
        cores: impl Iterator<Item = P>,
        uncore: U,
        plan: Plan,
    ) -> Self {
        Self::helped(source, mechanism, NoAgents, cores, uncore, plan)
    }
}

impl<'a, S: Source, P: Pipeline, U: Uncore, A: Agents> Run<'a, S, P, U, A> {
    /// The same, and behind them `agents`, a core each.
    pub(super) fn helped(
        source: &'a mut S,
        mechanism: &'a mut dyn AnyMechanism,
        agents: A,
        cores: impl Iterator<Item = P>,
        uncore: U,
        plan: Plan,
    ) -> Self {
        let threads = (0..).zip(cores).map(|(n, c)| Thread::new(n, c)).collect();
        Self::of((source, mechanism, agents), threads, (uncore, plan), None)
    }

    /// A `unit` of a run, on threads that have come there; then [`Run::through_unit`].
    pub(super) fn unit(
        parts: (&'a mut S, &'a mut dyn AnyMechanism, A),
        threads: Vec<Thread<P>>,
        on: (U, Plan),
        unit: Unit,
    ) -> Self {
        Self::of(parts, threads, on, Some(unit))
    }

    fn of(
        (source, mechanism, agents): (&'a mut S, &'a mut dyn AnyMechanism, A),
        threads: Vec<Thread<P>>,
        (uncore, plan): (U, Plan),
        unit: Option<Unit>,
    ) -> Self {
        let count = agents.count() as usize;
        let mut ready = Ready::new(threads.len());
        for thread in &threads {
            ready.push(thread.core.now(), thread.number);
        }
        Self {
            source,
            mechanism,
            uncore,
            ready,
            handoffs: HandOffs::default(),
            locks: Locks::default(),
            window: Window::new(plan.interest, plan.warmup, threads.len() as u32),
            meter: Meter::default(),
            helpers: Helpers::new(agents, threads.len().saturating_sub(count)),
            threads,
            plan,
            ops: 0,
            end: Time::ZERO,
            pledges: 0,
            woken: false,
            unit,
        }
    }

    /// To the end of the unit; of a trace that ends before, or of which no thread can go on, to there. `at_once`: it is
    /// measured from its beginning.
    pub(super) fn through_unit(
        mut self,
        at_once: bool,
    ) -> Result<Left<U>, SimulationError<S::Error>> {
        if at_once {
            let now = self.threads.iter().map(|t| t.core.now()).max();
            self.begin_measuring(now.unwrap_or_default());
        }
        self.all()?;
        while !self.is_through()
            && let Some(thread) = self.locks.give_up()
        {
            let now = self.threads[thread as usize].core.now();
            self.has_lock(thread, now);
            self.all()?;
        }
        Ok(self.leave_unit())
    }

    /// To the end of the trace.
    pub fn finish(mut self) -> Result<Finished, SimulationError<S::Error>> {
        self.measure(Time::ZERO);
        self.all()?;
        // Locks that the trace does not tell right, or not all of: somebody goes on all the same.
        while let Some(thread) = self.locks.give_up() {
            let now = self.threads[thread as usize].core.now();
            self.has_lock(thread, now);
            self.all()?;
        }
        let abandoned = self.helpers.abandoned();
        if !abandoned.is_empty() {
            return Err(SimulationError::Abandoned { threads: abandoned });
        }
        let stuck = self.handoffs.stuck();
        if !stuck.is_empty() {
            if !self.plan.lenient {
                return Err(SimulationError::Deadlock { waiting: stuck });
            }
            for (thread, _) in &stuck {
                let now = self.threads[*thread as usize].core.now();
                self.end = self.end.max(now);
            }
        }
        self.uncore.drain(self.end);
        if self.meter.is_on() {
            let counts = self.counts();
            self.meter.stop(self.end, counts, self.distributions());
        }
        self.check_measured()?;
        Ok(Finished {
            measured: self.meter.finish(),
            ops: self.ops,
            stuck,
            broken_locks: self.locks.broken(),
        })
    }

    /// Until no thread can go on.
    fn all(&mut self) -> Result<(), SimulationError<S::Error>> {
        while let Some((clock, thread)) = self.ready.pop() {
            let limit = match self.ready.next_clock() {
                Some(next) => next + self.plan.quantum,
                None => Time(u64::MAX),
            };
            let due = self.meter.due();
            let turn = self.turn(thread as usize, limit.min(due).max(clock))?;
            if self.is_through() {
                return Ok(());
            }
            let core = &self.threads[thread as usize].core;
            let now = core.now();
            match turn {
                Turn::Ready => self.ready.push(core.clock(), thread),
                Turn::Parked(Some(next)) => self.ready.push(next, thread),
                Turn::Parked(None) => {}
                Turn::Ended if A::ACTIVE && thread as usize >= self.helpers.programs => {}
                Turn::Ended => {
                    self.window.thread_ends(thread);
                    self.measure(now);
                    if A::ACTIVE {
                        self.program_ends(now);
                    }
                }
            }
            if now >= due {
                let counts = self.counts();
                self.meter.sample(now, &counts);
            }
        }
        Ok(())
    }

    /// Lets thread `t` do what begins by `limit`.
    fn turn(&mut self, t: usize, limit: Time) -> Result<Turn, SimulationError<S::Error>> {
        if A::ACTIVE && t >= self.helpers.programs {
            return Ok(self.help(t, limit));
        }
        if self.threads[t].parked {
            return Ok(self.rest(t, limit));
        }
        loop {
            if self.pledges > 0 && self.publish(t) {
                // One more thread to keep pace with.
                return Ok(Turn::Ready);
            }
            if !A::ACTIVE && self.pledges == 0 && self.run_plainly(t, limit) {
                return Ok(Turn::Ready);
            }
            let thread = &mut self.threads[t];
            let Some(op) = thread.peek() else {
                let refilled = thread.refill(self.source, self.mechanism);
                match refilled.map_err(SimulationError::Source)? {
                    None => continue,
                    Some(instrs) => match self.run_out(t, instrs, limit) {
                        Some(turn) => return Ok(turn),
                        None => continue,
                    },
                }
            };
            if A::ACTIVE {
                match self.consult(t, &op, limit) {
                    Come::Execute => {}
                    Come::Leave(turn) => return Ok(turn),
                    Come::Skipped if self.is_done(t, limit) => return Ok(Turn::Ready),
                    Come::Skipped => continue,
                }
            }
            let thread = &mut self.threads[t];
            if let Some(addr) = thread.address_ahead() {
                self.uncore.soon(t as u32, addr);
            }
            let thread = &mut self.threads[t];
            let now = thread.core.now();
            if !thread.core.advance(&op, limit, &mut self.uncore) {
                thread.under_way.get_or_insert(now);
                self.publish(t);
                return Ok(Turn::Ready);
            }
            let began = thread.last_began;
            thread.last_began = thread.under_way.take().unwrap_or(now);
            match self.behind(t, &op, began)? {
                Next::Look => {}
                Next::Go => continue,
                Next::Rest => return Ok(self.rest(t, limit)),
                Next::Stop => return Ok(Turn::Ready),
            }
            if self.is_done(t, limit) {
                return Ok(Turn::Ready);
            }
        }
    }
    /// The thread's trace is at its end, with `instrs` instructions behind its last operation. `None`: it goes on with what is left.
    fn run_out(&mut self, t: usize, instrs: u64, limit: Time) -> Option<Turn> {
        let thread = &mut self.threads[t];
        if thread.core.wind_down(instrs, limit, &mut self.uncore) {
            if thread.core.clock() > limit {
                self.publish(t);
                return Some(Turn::Ready);
            }
            return None;
        }
        let end = thread.core.finish(instrs, &mut self.uncore);
        self.end = self.end.max(end);
        self.publish(t);
        for lock in self.locks.held_by(t as u32) {
            self.released(t, lock, end);
        }
        self.woken = false;
        Some(Turn::Ended)
    }
}
