//! From what was measured of units to results of the whole.

use std::collections::BTreeMap;

use prestore_machine::Machine;

use super::units::{Figures, MeasuredUnits};
use crate::Time;
use crate::estimate::{Estimate, Part};
use crate::results::{About, MemoryCounts, Results, Sampled, Sampling, UnitTime};

/// The results of a run of `total` operations of which `sample` was measured; `None`: nothing was.
pub(super) fn results(
    machine: &Machine,
    about: About,
    sample: &MeasuredUnits,
    sampling: Sampling,
) -> Option<Results> {
    let times = times(machine, sample, &sampling);
    let ops: u64 = sample.units.iter().map(|u| u.ops).sum();
    // Parts of which nothing was measured are as the others.
    let stood_for: u64 = sample.units.iter().map(|u| u.stands_for).sum();
    let all = sampling.operations as f64 / stood_for.max(1) as f64;
    let by = |stands_for: u64, ops: u64| all * stands_for as f64 / ops.max(1) as f64;
    let mut sum = sample.sum(|unit| by(unit.stands_for, unit.ops))?;
    // Of one thread it is known, and need not be estimated.
    if let (Some(instructions), [thread]) = (sampling.instructions, &mut sum.counts.threads[..]) {
        thread.instructions = instructions;
    }
    let elapsed = (times.iter()).map(|u| u.time.0 as f64 * by(u.stands_for, u.operations));
    sum.elapsed = Time(elapsed.sum::<f64>().round() as u64);
    let clock = machine.core.clock;
    let estimate = |of: &dyn Fn(&Figures) -> f64| {
        let parts = sample.units.iter().map(|unit| Part {
            stands_for: unit.stands_for as f64,
            x: 1.0,
            y: of(unit) / unit.ops.max(1) as f64,
        });
        Estimate::ratio(&parts.collect::<Vec<_>>()).times(sampling.operations as f64)
    };
    let parts = times.iter().map(|unit| Part {
        stands_for: unit.stands_for as f64,
        x: 1.0,
        y: unit.time.in_cycles(clock) / unit.operations.max(1) as f64,
    });
    let cycles = Estimate::ratio(&parts.collect::<Vec<_>>()).times(sampling.operations as f64);
    let memory = |unit: &Figures, of: fn(&MemoryCounts) -> u64| {
        let memories = unit.measured.counts.system.memories.iter();
        memories.map(of).sum::<u64>() as f64
    };
    let mut figures = BTreeMap::from([
        (
            "media_read_bytes".to_owned(),
            estimate(&|unit| memory(unit, |m| m.media_read_bytes)),
        ),
        (
            "media_write_bytes".to_owned(),
            estimate(&|unit| memory(unit, |m| m.media_write_bytes)),
        ),
    ]);
    for (number, cache) in machine.caches.iter().enumerate() {
        let misses = estimate(&|unit| {
            let level = unit.measured.counts.system.levels.get(number);
            level.map_or(0, |l| l.load_misses + l.own_misses) as f64
        });
        figures.insert(format!("misses_{}", cache.name), misses);
    }
    let units = sample.units.len() as u64;
    let mut results = Results::new(machine, about, &sum);
    results.sampled = Some(Sampled {
        more_units: cycles.more_units(units, Sampled::WIDE_PERCENT),
        within_percent: Some(cycles.percent()).filter(|p| p.is_finite()),
        cycles,
        figures,
        units,
        cut: sample.cut,
        measured: ops,
        warmed: sample.warmed,
        sampling,
        times,
    });
    Some(results)
}

/// How long units took. Where it is known how many instructions the whole run has, each takes for the difference between
/// its own and its share of those as long as the core's width allows: so a long stretch of code without accesses, which
/// hardly any unit meets, has its time all the same (a difference estimator: Cochran, section 7.2).
fn times(machine: &Machine, sample: &MeasuredUnits, sampling: &Sampling) -> Vec<UnitTime> {
    let an_instruction = 1e3 / (machine.core.clock.0 * machine.core.width);
    let adjusted = |unit: &Figures| {
        let time = unit.measured.elapsed;
        let Some(all) = sampling.instructions else {
            return time;
        };
        let share = all as f64 * unit.ops as f64 / sampling.operations.max(1) as f64;
        let more = (share - unit.instrs as f64) * an_instruction;
        Time((time.0 as f64 + more).max(0.0).round() as u64)
    };
    let units = sample.units.iter().map(|unit| UnitTime {
        operations: unit.ops,
        stands_for: unit.stands_for,
        time: adjusted(unit),
    });
    units.collect()
}
