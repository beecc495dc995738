use std::process::ExitStatus;
use std::time::Duration;

use super::collect::{Collected, is_precise};
use crate::pmu::EventPlan;
use crate::samples::{Overhead, Samples};

/// Puts the parts of a run together; `cpu_time` is that of the program and its children. `None`
/// without any plan.
pub fn finish(
    collected: Collected,
    plans: &[EventPlan],
    precise_level: u8,
    status: ExitStatus,
    cpu_time: Duration,
) -> Option<Samples> {
    let source = plans.first()?.source;
    let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    Some(Samples {
        event: names.join(","),
        source,
        precise: is_precise(source, precise_level),
        precise_level,
        callchains: !plans.iter().any(|plan| plan.uses_aux),
        overhead: Overhead::estimate(source, collected.taken, cpu_time),
        events: collected.samples,
        losses: collected.losses,
        spaces: collected.spaces,
        status,
        chains: collected.chains,
    })
}
