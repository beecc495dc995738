//! The unit under way, in the engine's eyes.

use crate::Time;
use crate::engine::pipeline::{Pipeline, Uncore};
use crate::engine::run::Run;
use crate::engine::source::Source;
use crate::results::Measured;

/// How far a unit has come, in ticks of all threads together.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Unit {
    /// Not measured.
    before: u64,
    /// Measured.
    length: u64,
    passed: u64,
    over: bool,
    /// The program's instructions at the first and at the last tick measured, modulo 2^32.
    first: Option<u32>,
    last: u32,
}

impl Unit {
    /// One of `length` ticks, behind `before` that are not measured.
    pub fn new(before: u64, length: u64) -> Self {
        Self {
            before,
            length,
            passed: 0,
            over: false,
            first: None,
            last: 0,
        }
    }

    /// Is all of it measured?
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Instructions of the program that were measured, where one thread alone ticks.
    fn instructions(&self) -> u64 {
        self.first
            .map_or(0, |first| self.last.wrapping_sub(first).into())
    }

    /// Ticks that were measured.
    pub fn measured(&self) -> u64 {
        self.passed.saturating_sub(self.before).min(self.length)
    }
}

/// What was measured of a unit, its ticks and instructions, what is below the cores, and the time.
pub(in crate::engine) type Left<U> = (Measured, (u64, u64), U, Time);

impl<S: Source, P: Pipeline, U: Uncore, A> Run<'_, S, P, U, A> {
    /// Is the unit that is simulated, if it is one, over?
    pub(in crate::engine) fn is_through(&self) -> bool {
        self.unit.is_some_and(|unit| unit.is_over())
    }

    /// Some thread ticks at `now`, after so many `instrs` of the program (modulo 2^32). Answers whether the unit is over.
    pub(in crate::engine) fn ticked(&mut self, now: Time, instrs: u32) -> bool {
        let Some(unit) = &mut self.unit else {
            return false;
        };
        unit.passed += 1;
        let (begins, ends) = (
            unit.passed == unit.before,
            unit.passed == unit.before + unit.length,
        );
        unit.over |= ends;
        if unit.passed >= unit.before {
            unit.first.get_or_insert(instrs);
            unit.last = instrs;
        }
        if begins {
            self.begin_measuring(now);
        } else if ends {
            self.end_measuring(now);
        }
        ends
    }

    /// Measuring begins at `now`.
    pub(in crate::engine) fn begin_measuring(&mut self, now: Time) {
        let counts = self.counts();
        self.meter.start(now, counts, self.distributions());
    }

    fn end_measuring(&mut self, now: Time) {
        let counts = self.counts();
        self.meter.stop(now, counts, self.distributions());
    }

    /// What was measured of the unit, how many ticks of it and, of one thread, instructions of the program; the caches and
    /// memories as they are now, and when that is.
    pub(in crate::engine) fn leave_unit(mut self) -> Left<U> {
        let now = self.threads.iter().map(|t| t.core.now()).max();
        let now = now.unwrap_or_default().max(self.end);
        // The run ended within the unit.
        if self.meter.is_on() {
            self.end_measuring(now);
        }
        let ticks = self
            .unit
            .map_or((0, 0), |u| (u.measured(), u.instructions()));
        (self.meter.finish(), ticks, self.uncore, now)
    }
}
