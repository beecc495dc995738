//! One unit after the other.

use prestore_machine::Machine;

use super::source::{AnyUnits, TICK_OPS};
use super::unit::Unit;
use super::warming::Warming;
use crate::Time;
use crate::core::Core;
use crate::doors::NoAgents;
use crate::engine::erased::{AnyMechanism, Failed};
use crate::engine::error::SimulationError;
use crate::engine::pipeline::Uncore;
use crate::engine::run::{Plan, Run};
use crate::engine::thread::Thread;
use crate::results::{Measured, Sum};

/// What was measured of one unit.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Operations of the program, all threads.
    pub ops: u64,
    /// Those of the part of the run that it stands for.
    pub stands_for: u64,
    /// Instructions of the program, where there is one thread.
    pub instrs: u64,
    /// What was measured.
    pub measured: Measured,
}

/// What was measured of units.
#[derive(Clone, Debug, Default)]
pub struct MeasuredUnits {
    /// In the order of the run. Those in which nothing was measured are left out.
    pub(in crate::engine) units: Vec<Figures>,
    /// Units that ended before they were measured whole: because the run does, or as no thread could go on.
    pub(in crate::engine) cut: u64,
    /// Operations that warmed.
    pub(in crate::engine) warmed: u64,
}

/// Simulates units.
pub(in crate::engine) struct Units<'a, U> {
    pub machine: &'a Machine,
    pub source: &'a mut dyn AnyUnits,
    pub mechanism: &'a mut dyn AnyMechanism,
    pub uncore: U,
    pub plan: Plan,
    /// Operations of a unit that are measured.
    pub length: u64,
}

impl<U: Uncore> Units<'_, U> {
    /// All that the source has.
    pub fn finish(mut self) -> Result<MeasuredUnits, SimulationError<Failed>> {
        let count = self.source.threads();
        let mut sample = MeasuredUnits::default();
        let mut warming = Warming::new(self.machine, count);
        let fresh = || {
            let cores = (0..count).map(|id| Core::new(id, self.machine));
            (0..).zip(cores).map(|(n, core)| Thread::new(n, core))
        };
        let length = self.length.div_ceil(TICK_OPS).max(1);
        while let Some(ahead) = self.source.next_unit().map_err(SimulationError::Source)? {
            let before = ahead.detail;
            let mut threads: Vec<Thread<Core>> = fresh().collect();
            loop {
                let uncore = &self.uncore;
                let next = self.source.warms(&|| uncore.filled());
                let Some(t) = next.map_err(SimulationError::Source)? else {
                    break;
                };
                let thread = &mut threads[t as usize];
                let ended = thread.refill(&mut self.source, self.mechanism);
                let ops = match ended.map_err(SimulationError::Source)? {
                    None => thread.take_all(),
                    Some(_) => continue,
                };
                sample.warmed += ops.len() as u64;
                warming.warm(t, ops, &mut self.uncore);
            }
            warming.end(&mut self.uncore);
            for thread in &mut threads {
                let ended = thread.refill(&mut self.source, self.mechanism);
                // One that has ended executes nothing more.
                let ended = ended.map_err(SimulationError::Source)?;
                let next = thread.peek().map(|op| op.instr);
                let instr = ended.or(next).unwrap_or(0);
                thread.core.begin(warming.at, instr);
            }
            let unit = Unit::new(before.div_ceil(TICK_OPS), length);
            let run = Run::unit(
                (&mut self.source, &mut *self.mechanism, NoAgents),
                threads,
                (self.uncore, self.plan),
                unit,
            );
            let (measured, (ticks, instrs), uncore, now) = run.through_unit(before == 0)?;
            self.uncore = uncore;
            self.forget_held(count);
            let ops = ticks * TICK_OPS;
            sample.cut += u64::from(ticks < length);
            warming.at = now.max(warming.at);
            if let Some(pace) = measured.elapsed.0.checked_div(ops) {
                warming.pace = Time(pace.max(1));
                sample.units.push(Figures {
                    ops,
                    stands_for: ahead.stands_for,
                    instrs,
                    measured,
                });
            }
        }
        Ok(sample)
    }

    /// What the mechanism holds back belongs to a unit that is over.
    fn forget_held(&mut self, threads: u32) {
        let mut ops = Vec::new();
        for thread in 0..threads {
            self.mechanism.end(thread, &mut ops);
        }
    }
}

impl MeasuredUnits {
    /// With what was measured of units that come later in the run.
    pub fn and(mut self, later: Self) -> Self {
        self.units.extend(later.units);
        self.cut += later.cut;
        self.warmed += later.warmed;
        self
    }

    /// What was measured of all units together, counts `by` so many times each.
    pub(super) fn sum(&self, by: impl Fn(&Figures) -> f64) -> Option<Measured> {
        let scaled = |unit: &Figures| {
            let mut counts = unit.measured.counts.clone();
            counts.scale(by(unit));
            counts
        };
        let (first, rest) = self.units.split_first()?;
        let mut sum = first.measured.clone();
        sum.counts = scaled(first);
        for unit in rest {
            let measured = &unit.measured;
            sum.counts.add(&scaled(unit));
            sum.latencies.add(&measured.latencies);
            sum.handoffs.add(&measured.handoffs);
            sum.messages.add(&measured.messages);
        }
        sum.series = Default::default();
        Some(sum)
    }
}
