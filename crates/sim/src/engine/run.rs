//! The loop: threads go on in order of simulated time.

use super::error::SimulationError;
use super::handoffs::{HandOffs, Published};
use super::pipeline::{Pipeline, Uncore};
use super::ready::Ready;
use super::source::Source;
use super::thread::Thread;
use super::window::{Interest, Window};
use crate::mechanism::Mechanism;
use crate::results::{Counts, Distributions, Measured, Meter};
use crate::{OpKind, Time};

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
pub struct Run<'a, S, M, P, U> {
    source: &'a mut S,
    mechanism: &'a mut M,
    threads: Vec<Thread<P>>,
    uncore: U,
    ready: Ready,
    handoffs: HandOffs,
    window: Window,
    meter: Meter,
    plan: Plan,
    ops: u64,
    end: Time,
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
}

/// How a thread's turn ended.
enum Turn {
    /// It can go on.
    Ready,
    /// It waits for a hand-off.
    Parked,
    /// It has nothing more to do.
    Ended,
}

impl<'a, S: Source, M: Mechanism, P: Pipeline, U: Uncore> Run<'a, S, M, P, U> {
    /// Threads 0, 1, … on `cores`.
    pub fn new(
        source: &'a mut S,
        mechanism: &'a mut M,
        cores: impl Iterator<Item = P>,
        uncore: U,
        plan: Plan,
    ) -> Self {
        let threads: Vec<Thread<P>> = (0..).zip(cores).map(|(n, c)| Thread::new(n, c)).collect();
        let mut ready = Ready::default();
        for thread in &threads {
            ready.push(thread.core.now(), thread.number);
        }
        Self {
            source,
            mechanism,
            uncore,
            ready,
            handoffs: HandOffs::default(),
            window: Window::new(plan.interest, plan.warmup, threads.len() as u32),
            meter: Meter::default(),
            threads,
            plan,
            ops: 0,
            end: Time::ZERO,
        }
    }

    /// To the end of the trace.
    pub fn finish(mut self) -> Result<Finished, SimulationError<S::Error>> {
        self.measure(Time::ZERO);
        while let Some((_, thread)) = self.ready.pop() {
            let limit = match self.ready.next_clock() {
                Some(next) => next + self.plan.quantum,
                None => Time(u64::MAX),
            };
            let due = self.meter.due();
            let turn = self
                .turn(thread as usize, limit.min(due))
                .map_err(SimulationError::Source)?;
            let now = self.threads[thread as usize].core.now();
            match turn {
                Turn::Ready => self.ready.push(now, thread),
                Turn::Parked => {}
                Turn::Ended => {
                    self.window.thread_ends(thread);
                    self.measure(now);
                }
            }
            if now >= due {
                let counts = self.counts();
                self.meter.sample(now, &counts);
            }
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
        })
    }

    /// Lets thread `t` go on until its clock is at `limit`.
    fn turn(&mut self, t: usize, limit: Time) -> Result<Turn, S::Error> {
        loop {
            let thread = &mut self.threads[t];
            let Some(op) = thread.peek::<M>() else {
                match thread.refill(self.source, self.mechanism)? {
                    None => continue,
                    Some(instrs) => {
                        if thread.core.wind_down(instrs, &mut self.uncore) {
                            if thread.core.now() >= limit {
                                return Ok(Turn::Ready);
                            }
                            continue;
                        }
                        let end = thread.core.finish(instrs, &mut self.uncore);
                        self.end = self.end.max(end);
                        return Ok(Turn::Ended);
                    }
                }
            };
            if let Some(addr) = thread.address_ahead::<M>() {
                self.uncore.soon(t as u32, addr);
            }
            let thread = &mut self.threads[t];
            let began = thread.last_began;
            thread.last_began = thread.core.now();
            thread.core.step(&op, &mut self.uncore);
            match op.kind {
                OpKind::Load if !thread.unread.is_empty() => self.messages_read(t),
                OpKind::HandOff => {
                    thread.last_began = began;
                    thread.advance();
                    if self.hand_off(t, op.addr) {
                        // One more thread to keep pace with.
                        return Ok(Turn::Ready);
                    }
                    continue;
                }
                OpKind::Await => {
                    let Some(published) = self.handoffs.await_by(op.addr, t as u32) else {
                        return Ok(Turn::Parked);
                    };
                    thread.core.wait_until(published.visible);
                    thread.unread.push(published);
                }
                OpKind::RegionBegin => {
                    let now = thread.core.now();
                    thread.regions.push(now);
                    self.window.region_begins(t as u32, op.addr);
                    self.measure(now);
                }
                OpKind::RegionEnd => {
                    let now = thread.core.now();
                    thread.regions.pop();
                    self.window.region_ends(t as u32, op.addr);
                    self.measure(now);
                }
                OpKind::Alloc { .. } => self.uncore.allocated(&op),
                OpKind::Free => self.uncore.freed(op.addr),
                _ => {}
            }
            self.threads[t].advance();
            self.ops += 1;
            if self.ops == self.plan.warmup {
                self.window.pass(self.ops);
                let now = self.threads[t].core.now();
                self.measure(now);
            }
            if self.threads[t].core.now() >= limit {
                return Ok(Turn::Ready);
            }
        }
    }

    /// Thread `t` publishes hand-off `number`. Answers whether that woke a thread.
    fn hand_off(&mut self, t: usize, number: u64) -> bool {
        let thread = &mut self.threads[t];
        let published = Published {
            visible: thread.core.visible_at(&mut self.uncore),
            begun: thread.regions.last().copied().unwrap_or(thread.last_began),
            message: !thread.regions.is_empty(),
        };
        let woken = self.handoffs.publish(number, published);
        let Some(sleeper) = woken else {
            return false;
        };
        let core = &mut self.threads[sleeper as usize].core;
        core.wait_until(published.visible);
        self.ready.push(core.now(), sleeper);
        true
    }

    /// Thread `t` has read something after messages came.
    fn messages_read(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        let done = thread.core.load_done();
        for message in thread.unread.drain(..) {
            if self.meter.is_on() {
                let latency = done.since(message.begun);
                self.meter.handoffs.record(latency);
                if message.message {
                    self.meter.messages.record(latency);
                }
            }
        }
    }

    /// Switches measuring on or off as the window wants.
    fn measure(&mut self, now: Time) {
        match (self.window.wanted(), self.meter.is_on()) {
            (true, false) => {
                let counts = self.counts();
                self.meter.start(now, counts, self.distributions());
                self.window.began();
            }
            (false, true) => {
                let counts = self.counts();
                self.meter.stop(now, counts, self.distributions());
            }
            _ => {}
        }
    }

    fn distributions(&self) -> Distributions {
        let mut sum = Distributions {
            reads: self.uncore.read_latencies(),
            ..Distributions::default()
        };
        for thread in &self.threads {
            thread.core.add_latencies(&mut sum);
        }
        sum
    }

    fn counts(&self) -> Counts {
        Counts {
            threads: self.threads.iter().map(|t| t.core.counts()).collect(),
            system: self.uncore.counts(),
        }
    }

    /// An answer of nothing but zeros would be silence about a wrong question.
    fn check_measured(&self) -> Result<(), SimulationError<S::Error>> {
        if self.window.has_begun() {
            return Ok(());
        }
        if self.ops < self.plan.warmup {
            return Err(SimulationError::AllWarmup {
                ops: self.ops,
                warmup: self.plan.warmup,
            });
        }
        Err(SimulationError::NoRegion {
            wanted: match self.plan.interest {
                Interest::Region(id) => Some(id),
                Interest::All | Interest::AnyRegion => None,
            },
            seen: self.window.seen().to_vec(),
        })
    }
}
