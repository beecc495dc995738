use std::process::ExitStatus;
use std::time::Duration;

use super::collect::{Collected, is_precise};
use crate::pmu::EventPlan;
use crate::samples::{Overhead, Samples};

/// Puts the parts of a run together.
pub fn finish(
    collected: Collected,
    plans: &[EventPlan],
    precise_level: u8,
    status: ExitStatus,
    wall: Duration,
) -> Option<Samples> {
    let source = plans.first()?.source;
    let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    let cpus = plans.iter().map(|plan| plan.cpus.0.len()).sum();
    Some(Samples {
        event: names.join(","),
        source,
        precise: is_precise(source, precise_level),
        precise_level,
        callchains: !plans.iter().any(|plan| plan.uses_aux),
        overhead: Overhead::estimate(source, collected.taken, wall, cpus),
        events: collected.samples,
        losses: collected.losses,
        spaces: collected.spaces,
        status,
        chains: collected.chains,
    })
}
