//! Helper threads of a runtime, among the threads of the program.

use super::handoffs::Pledge;
use super::pipeline::{Pipeline, Uncore};
use super::run::{Run, Turn};
use crate::doors::{Agents, Sleeper, Step, Then, Wakes};
use crate::{Op, OpKind, Time};

/// Not until something wakes it.
const NEVER: Time = Time(u64::MAX);
/// A helper that sleeps no time at all sleeps so long, or the run would not go on.
const SHORTEST: Time = Time(1000);

/// The helpers of a run, and who waits for them. Helper 0 is the thread behind the program's last.
#[derive(Debug)]
pub(super) struct Helpers<A> {
    pub agents: A,
    /// Threads of the program.
    pub programs: usize,
    /// Those that have not ended.
    pub running: usize,
    /// Threads of the program that sleep until a helper wakes them.
    waiting: Vec<bool>,
    each: Vec<Helper>,
    wakes: Wakes,
}

/// A helper under way.
#[derive(Clone, Copy, Debug)]
struct Helper {
    /// What it executes.
    op: Option<Op>,
    /// It sleeps until then.
    asleep: Option<Time>,
    /// Its instructions so far.
    instrs: u64,
}

/// What becomes of an operation that a thread has come to.
pub(super) enum Come {
    /// It is executed.
    Execute,
    /// A helper has it: it is done with.
    Skipped,
    /// The thread's turn ends.
    Leave(Turn),
}

impl<A: Agents> Helpers<A> {
    /// `agents` beside `programs` threads.
    pub fn new(agents: A, programs: usize) -> Self {
        let helper = Helper {
            op: None,
            asleep: None,
            instrs: 0,
        };
        Self {
            each: vec![helper; agents.count() as usize],
            agents,
            programs,
            running: programs,
            waiting: vec![false; programs],
            wakes: Wakes::default(),
        }
    }

    /// Threads of the program that wait for a helper.
    pub fn abandoned(&self) -> Vec<u32> {
        let waiting = (0..).zip(&self.waiting).filter(|(_, waits)| **waits);
        waiting.map(|(thread, _)| thread).collect()
    }
}

impl<S, P: Pipeline, U: Uncore, A: Agents> Run<'_, S, P, U, A> {
    /// Thread `t` comes to `op`: the helpers see it.
    pub(super) fn consult(&mut self, t: usize, op: &Op, limit: Time) -> Come {
        let acts = matches!(
            op.kind,
            OpKind::Load
                | OpKind::Store
                | OpKind::NtStore
                | OpKind::Atomic
                | OpKind::Flush(_)
                | OpKind::Demote(_)
                | OpKind::Fence(_)
        );
        if !acts || self.threads[t].under_way.is_some() {
            return Come::Execute;
        }
        // The instructions before it first.
        let nothing = Op {
            kind: OpKind::Free,
            ..*op
        };
        let core = &mut self.threads[t].core;
        if !core.advance(&nothing, limit, &mut self.uncore) {
            self.publish(t);
            return Come::Leave(Turn::Ready);
        }
        let now = core.now();
        let helpers = &mut self.helpers;
        let then = (helpers.agents).comes_to(t as u32, now, op, &mut helpers.wakes);
        if then == Then::Wait {
            helpers.waiting[t] = true;
            self.threads[t].parked = true;
        }
        self.wake_sleepers();
        match then {
            Then::Execute => Come::Execute,
            Then::Skip(cost) => {
                self.threads[t].core.wait_until(now + cost);
                Come::Skipped
            }
            Then::HandOver(cost) => {
                self.threads[t].core.wait_until(now + cost);
                self.pledge(t, Pledge::Helpers(*op));
                Come::Skipped
            }
            // It may have been woken at once.
            Then::Wait if !self.threads[t].parked => Come::Leave(Turn::Ready),
            Then::Wait => Come::Leave(self.rest(t, limit)),
        }
    }

    /// What thread `t` handed over to helpers is visible at `at`.
    pub(super) fn handed_to_helpers(&mut self, t: usize, op: &Op, at: Time) {
        let helpers = &mut self.helpers;
        (helpers.agents).handed_over(t as u32, at, op, &mut helpers.wakes);
        self.wake_sleepers();
    }

    /// Lets the helper that is thread `t` do what begins by `limit`.
    pub(super) fn help(&mut self, t: usize, limit: Time) -> Turn {
        let agent = t - self.helpers.programs;
        loop {
            if let Some(until) = self.helpers.each[agent].asleep {
                if until > limit {
                    return self.doze(t, until, limit);
                }
                self.helpers.each[agent].asleep = None;
                self.threads[t].core.wait_until(until);
            }
            let Some(op) = self.helpers.each[agent].op else {
                if let Some(turn) = self.next_step(t, limit) {
                    return turn;
                }
                continue;
            };
            let core = &mut self.threads[t].core;
            if !core.advance(&op, limit, &mut self.uncore) {
                return Turn::Ready;
            }
            let late = core.now() > limit;
            self.helpers.each[agent].op = None;
            if late {
                return Turn::Ready;
            }
        }
    }

    /// The helper that is thread `t` is asked what it does next. Answers how its turn ends, if it does.
    fn next_step(&mut self, t: usize, limit: Time) -> Option<Turn> {
        let agent = t - self.helpers.programs;
        let now = self.threads[t].core.now();
        let helpers = &mut self.helpers;
        let over = helpers.running == 0;
        let step = (helpers.agents).step(agent as u32, now, over, &mut helpers.wakes);
        let helper = &mut helpers.each[agent];
        match step {
            Step::Do(op) => {
                helper.instrs = helper.instrs.max(op.instr);
                helper.op = Some(op);
            }
            Step::Sleep | Step::SleepUntil(_) if over => {}
            Step::SleepUntil(at) => helper.asleep = Some(at.max(now + SHORTEST)),
            Step::Sleep => helper.asleep = Some(NEVER),
        }
        let ends = over && helper.op.is_none();
        let instrs = helper.instrs;
        self.wake_sleepers();
        if ends {
            let core = &mut self.threads[t].core;
            if core.wind_down(instrs, limit, &mut self.uncore) {
                return (core.clock() > limit).then_some(Turn::Ready);
            }
            let end = core.finish(instrs, &mut self.uncore);
            self.end = self.end.max(end);
            return Some(Turn::Ended);
        }
        // One more thread to keep pace with.
        std::mem::take(&mut self.woken).then_some(Turn::Ready)
    }

    /// A helper sleeps, and what it left pending happens by `limit`.
    fn doze(&mut self, t: usize, until: Time, limit: Time) -> Turn {
        let pending = self.threads[t].core.rest(limit, &mut self.uncore);
        let next = pending.map_or(until, |at| at.min(until));
        Turn::Parked((next != NEVER).then_some(next))
    }

    /// A thread of the program has ended, at `end`: if it was the last, the helpers are told.
    pub(super) fn program_ends(&mut self, end: Time) {
        self.helpers.running -= 1;
        if self.helpers.running == 0 {
            let agents = 0..self.helpers.each.len() as u32;
            self.helpers
                .wakes
                .0
                .extend(agents.map(|a| (Sleeper::Agent(a), end)));
            self.wake_sleepers();
        }
    }

    /// Those who were woken go on.
    fn wake_sleepers(&mut self) {
        let mut wakes = std::mem::take(&mut self.helpers.wakes);
        for (sleeper, at) in wakes.0.drain(..) {
            match sleeper {
                Sleeper::Thread(thread) => {
                    let Some(waits) = self.helpers.waiting.get_mut(thread as usize) else {
                        continue;
                    };
                    if std::mem::take(waits) {
                        self.threads[thread as usize].core.wait_until(at);
                        self.wake(thread);
                    }
                }
                Sleeper::Agent(agent) => {
                    let Some(helper) = self.helpers.each.get_mut(agent as usize) else {
                        continue;
                    };
                    if let Some(until) = &mut helper.asleep {
                        *until = at.min(*until);
                        let thread = self.helpers.programs as u32 + agent;
                        self.ready.push(*until, thread);
                        self.woken = true;
                    }
                }
            }
        }
        self.helpers.wakes = wakes;
    }
}
