//! From what was measured of units to results of the whole.

use std::collections::BTreeMap;

use prestore_machine::Machine;

use super::units::{Figures, Sample};
use crate::estimate::Estimate;
use crate::results::{About, MemoryCounts, Results, Sampled, Sampling, Sum, UnitTime};

/// The results of a run of `total` operations of which `sample` was measured; `None`: nothing was.
pub(in crate::engine) fn results(
    machine: &Machine,
    about: About,
    sample: &Sample,
    sampling: Sampling,
) -> Option<Results> {
    let mut sum = sample.sum()?;
    let ops: u64 = sample.units.iter().map(|u| u.ops).sum();
    let by = sampling.operations as f64 / ops.max(1) as f64;
    sum.counts.scale(by);
    sum.elapsed.scale(by);
    let clock = machine.core.clock;
    let estimate = |of: &dyn Fn(&Figures) -> f64| {
        let pairs: Vec<(f64, f64)> = (sample.units.iter())
            .map(|unit| (unit.ops as f64, of(unit)))
            .collect();
        Estimate::ratio(&pairs).times(sampling.operations as f64)
    };
    let cycles = estimate(&|unit| unit.measured.elapsed.in_cycles(clock));
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
    let times = sample.units.iter().map(|unit| UnitTime {
        operations: unit.ops,
        time: unit.measured.elapsed,
    });
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
        times: times.collect(),
    });
    Some(results)
}
