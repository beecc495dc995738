//! What results say of the sample that they were estimated from.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Time;
use crate::estimate::{Estimate, Part};

/// How a run was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// Operations of the whole run, all threads.
    pub operations: u64,
    /// Instructions of the whole run, where one thread has them and none is left out.
    #[serde(skip)]
    pub instructions: Option<u64>,
    /// Operations of a unit that are measured.
    pub unit: u64,
    /// Operations that are simulated in detail before, and not measured, where so many are left.
    pub detail: u64,
    /// Operations before those that only warm caches and memories, where nothing is known of what the caches need; `None`: all since
    /// the last unit. What warmed is [`Sampled::warmed`].
    pub warm: Option<u64>,
    /// Chooses where units begin.
    pub seed: u64,
    /// In so many runs units were simulated, one behind the other in each.
    pub runs: u64,
}

/// A sample: all other figures are what was measured of its units, times the operations of the parts that they stand for over
/// the measured ones. Distributions of latencies are those of the sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// Units measured: those asked for, and more at the run's start.
    pub units: u64,
    /// Units that were not measured whole: the run ended in them, or no thread could go on.
    pub cut: u64,
    /// Operations measured.
    pub measured: u64,
    /// Operations that only warmed.
    pub warmed: u64,
    /// How.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Half of the time's 95 % interval, in percent of the time; `None`: one unit alone tells nothing of it.
    pub within_percent: Option<f64>,
    /// The time, cycles.
    pub cycles: Estimate,
    /// Other figures.
    pub figures: BTreeMap<String, Estimate>,
    /// So many units more would bring the time's interval down to [`Sampled::WIDE_PERCENT`]; `None`: it is as narrow.
    pub more_units: Option<u64>,
    /// The units, in the order of the run.
    #[serde(skip)]
    pub times: Vec<UnitTime>,
}

/// What was measured of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTime {
    /// Operations of the program.
    pub operations: u64,
    /// Those of the part of the run that it stands for.
    pub stands_for: u64,
    /// How long they took.
    pub time: Time,
}

impl Sampled {
    /// Wider intervals (half of them, in percent) are said to be too wide.
    pub const WIDE_PERCENT: f64 = 5.0;

    /// How many times as long this run takes as `other`, of which the same units were measured; `None`: they were
    /// not. Units that are slow in one are slow in the other, which makes the interval narrower than those of the times.
    pub fn times_as_long_as(&self, other: &Self) -> Option<Estimate> {
        let alike = self.times.len() == other.times.len()
            && (self.times.iter().zip(&other.times)).all(|(a, b)| a.operations == b.operations);
        let pairs = self.times.iter().zip(&other.times);
        let parts = pairs.map(|(mine, others)| {
            let each = 1.0 / mine.operations.max(1) as f64;
            Part {
                stands_for: mine.stands_for as f64,
                x: others.time.0 as f64 * each,
                y: mine.time.0 as f64 * each,
            }
        });
        alike.then(|| Estimate::ratio(&parts.collect::<Vec<_>>()))
    }
}
