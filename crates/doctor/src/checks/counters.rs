use prestore_sampler::{Cause, Counters, Source, Unavailable};

use crate::check::{Check, Remedy, Status};
use crate::facts::Facts;

const WITHOUT: &str = "advice uses exact counts of every store instead of samples";

/// Hardware sampling of stores, and how precise it is.
pub(crate) fn store_sampling(counters: &Counters) -> Check {
    let name = "store-sampling";
    let event = match &counters.stores {
        Ok(event) => event,
        Err(why) => {
            return Check::lack(name, Status::Missing, WITHOUT, &why.detail, remedy(why));
        }
    };
    let precision = match event.source {
        Source::IntelMemStores => format!("PEBS, precise_ip {}", event.precise_level),
        Source::AmdIbsOp => "IBS, exact instruction".to_owned(),
        Source::ArmSpe => "SPE, exact instruction, no call chains".to_owned(),
        Source::CpuClock => "time only".to_owned(),
    };
    let found = format!("{} ({precision})", event.name);
    if event.source == Source::IntelMemStores && event.precise_level < 2 {
        return Check::lack(
            name,
            Status::Degraded,
            format!("{found}: samples name the instruction after the store"),
            "the processor's unit offers constant skid only",
            Remedy::Nothing("use --scope count, which is exact".to_owned()),
        );
    }
    if event.cpu_wide {
        return Check::lack(
            name,
            Status::Degraded,
            format!("{found}, whole CPUs: other processes are sampled and left out"),
            "this kernel's IBS cannot follow one program",
            Remedy::Nothing("Linux 6.2 and later can".to_owned()),
        );
    }
    Check::ok(name, found)
}

/// Whether this process may sample at all, apart from the hardware.
pub(crate) fn permission(facts: &Facts) -> Check {
    let name = "perf-events";
    let level = match facts.host.paranoid {
        Some(level) => format!("kernel.perf_event_paranoid is {level}"),
        None => "kernel.perf_event_paranoid cannot be read".to_owned(),
    };
    let privilege = if facts.host.may_perfmon {
        ", and this process has CAP_PERFMON"
    } else {
        ""
    };
    match &facts.counters.clock {
        Ok(()) => Check::ok(name, format!("permitted: {level}{privilege}")),
        Err(why) => Check::lack(name, Status::Missing, WITHOUT, &why.detail, remedy(why)),
    }
}

fn remedy(why: &Unavailable) -> Remedy {
    if let Some(command) = &why.fix {
        return Remedy::Run(command.clone());
    }
    Remedy::Nothing(
        match why.cause {
            Cause::NoVirtualPmu => {
                "run on bare metal, or let the hypervisor pass the PMU on; everything works without"
            }
            Cause::NoStoreEvent | Cause::NotPrecise => {
                "a processor with PEBS, IBS or SPE is needed; everything works without"
            }
            Cause::NoPerfEvents => {
                "a kernel with CONFIG_PERF_EVENTS is needed; everything works without"
            }
            Cause::Seccomp => "change the container's own description; everything works without",
            Cause::Paranoid | Cause::Forbidden | Cause::Busy | Cause::Limit => {
                "everything works without"
            }
        }
        .to_owned(),
    )
}
