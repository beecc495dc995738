//! The front end: dispatch at the pipeline's width, reorder window, load ports.

use super::params::{FRACTION, Params};
use super::pipeline::NEVER;
use super::results::CoreResults;
use super::stalls::Cause;
use crate::{ServedBy, Time};

/// A load that the reorder window must wait for.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    instr: u64,
    /// [`NEVER`]: it waits for another load, and it is not known yet.
    done: Time,
    by: ServedBy,
}

/// The core's clock and what holds it up.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    /// When the next instruction can dispatch.
    pub now: Time,
    /// What [`FrontEnd::now`] leaves out of a picosecond.
    fraction: u64,
    /// Instructions dispatched.
    pub instr: u64,
    /// When a load port is free.
    port: Time,
    /// When all loads so far are done: what is dispatched now retires no sooner.
    pub retired: Time,
    /// When the newest load is done.
    pub load_done: Time,
    /// Loads that are done later than the window could reach behind them anyway, each later than
    /// the one before: one that is done earlier than an older one holds nothing up.
    ring: Box<[Outstanding]>,
    head: usize,
    tail: usize,
}

impl FrontEnd {
    pub fn new(params: &Params) -> Self {
        // Loads of one instruction share an entry, but for those that wait.
        let entries = (2 * params.rob as usize + 2).next_power_of_two();
        let none = Outstanding {
            instr: 0,
            done: Time::ZERO,
            by: ServedBy::Peer,
        };
        Self {
            now: Time::ZERO,
            fraction: 0,
            instr: 0,
            port: Time::ZERO,
            retired: Time::ZERO,
            load_done: Time::ZERO,
            ring: vec![none; entries].into(),
            head: 0,
            tail: 0,
        }
    }

    /// Nothing was dispatched before `at`, and the first is instruction `instr`.
    pub fn begin(&mut self, at: Time, instr: u64) {
        (self.now, self.port, self.retired, self.load_done) = (at, at, at, at);
        self.instr = instr;
    }

    /// Dispatches up to instruction `instr`; where the window is full, waits for its oldest load.
    #[inline(always)]
    pub fn dispatch(&mut self, instr: u64, params: &Params, results: &mut CoreResults) {
        while self.head != self.tail {
            let oldest = self.ring[self.head & (self.ring.len() - 1)];
            let limit = oldest.instr + params.rob;
            if limit > instr {
                break;
            }
            self.advance(limit, params, results);
            self.stall(oldest.done, Cause::Load(oldest.by), results);
            self.head += 1;
        }
        self.advance(instr, params, results);
    }

    /// Instructions up to `instr` take their time.
    #[inline(always)]
    fn advance(&mut self, instr: u64, params: &Params, results: &mut CoreResults) {
        let n = instr.saturating_sub(self.instr);
        if n == 0 {
            return;
        }
        self.instr = instr;
        results.instructions = instr;
        let passed = u128::from(self.fraction) + u128::from(n) * u128::from(params.instruction);
        let whole = Time((passed >> FRACTION) as u64);
        self.fraction = passed as u64 & ((1 << FRACTION) - 1);
        self.now += whole;
        results.busy += whole;
    }

    /// Nothing dispatches before `until`.
    #[inline(always)]
    pub fn stall(&mut self, until: Time, cause: Cause, results: &mut CoreResults) {
        if until > self.now {
            results.stalls.add(cause, until - self.now);
            self.now = until;
        }
    }

    /// An instruction takes `time` on top of its slot.
    #[inline]
    pub fn issue(&mut self, time: Time, results: &mut CoreResults) {
        self.now += time;
        results.issue += time;
    }

    /// When the load that dispatches now finds a port. It waits for it in the reorder window, and
    /// only a backlog longer than that holds up dispatch.
    #[inline(always)]
    pub fn load_port(&mut self, params: &Params, results: &mut CoreResults) -> Time {
        let at = self.now.max(self.port);
        self.port = at + params.load_period;
        if at > self.now + params.window {
            let wait = at - self.now - params.window;
            self.now += wait;
            results.busy += wait;
        }
        at
    }

    /// The load that was dispatched last is done at `done`.
    #[inline(always)]
    pub fn loaded(&mut self, done: Time, by: ServedBy, params: &Params, results: &mut CoreResults) {
        self.load_done = done;
        if params.rob == 0 {
            self.stall(done, Cause::Load(by), results);
        } else if done > self.retired && done > self.now + params.window {
            self.remember(done, by);
        }
        self.retired = self.retired.max(done);
    }

    fn remember(&mut self, done: Time, by: ServedBy) {
        let mask = self.ring.len() - 1;
        let new = Outstanding {
            instr: self.instr,
            done,
            by,
        };
        let last = &mut self.ring[self.tail.wrapping_sub(1) & mask];
        if self.head != self.tail && last.instr == self.instr && last.done != NEVER {
            *last = new;
        } else {
            self.ring[self.tail & mask] = new;
            self.tail += 1;
        }
    }

    /// Is there a place in the window for a load that waits, and some more?
    pub fn has_place(&self) -> bool {
        self.tail - self.head < self.ring.len() / 2
    }

    /// The load that was dispatched last waits. Answers its place in the window.
    pub fn wait(&mut self) -> usize {
        let place = self.tail;
        self.ring[place & (self.ring.len() - 1)] = Outstanding {
            instr: self.instr,
            done: NEVER,
            by: ServedBy::Peer,
        };
        self.tail += 1;
        place
    }

    /// The load of this place has waited, and is done at `done`.
    pub fn waited(&mut self, place: usize, done: Time, by: ServedBy) {
        let of = &mut self.ring[place & (self.ring.len() - 1)];
        (of.done, of.by) = (done, by);
        self.retired = self.retired.max(done);
        self.load_done = self.load_done.max(done);
    }

    /// Nothing of this count and beyond dispatches before the first load that waits is done; `None`: none waits.
    pub fn limit(&self, params: &Params) -> Option<u64> {
        let each = (self.head..self.tail).map(|at| &self.ring[at & (self.ring.len() - 1)]);
        let first = each.into_iter().find(|load| load.done == NEVER)?;
        Some(first.instr + params.rob)
    }

    /// Everything before has retired: the window is empty.
    pub fn clear_window(&mut self) {
        self.head = self.tail;
    }
}
