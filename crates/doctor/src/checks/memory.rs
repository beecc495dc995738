use prestore_sampler::HostFacts;

use super::human;
use crate::check::{Check, Remedy, Status};
use crate::facts::{Directory, Facts, Memory};

/// Shared memory for the buffers between program and analysis. Below this, a few dozen threads fill
/// it (Docker's default is 64 MiB).
const SHARED_WANTED: u64 = 256 << 20;
/// Below this not even a program of few threads can be recorded.
const SHARED_NEEDED: u64 = 16 << 20;
/// A recording of scope `all` writes up to 1.5 bytes an access, some hundred MiB a second.
const DISK_WANTED: u64 = 10 << 30;
/// Less than a second or two of scope `all`.
const DISK_NEEDED: u64 = 256 << 20;
/// The analysis holds the touched lines of the program.
const MEMORY_WANTED: u64 = 2 << 30;
/// Sample buffers lock 64 data pages and a control page a CPU; perf's default limit covers it.
const LOCKED_WANTED_KIB: u64 = 260;

/// Room in `/dev/shm`.
pub(crate) fn shared_memory(facts: &Facts) -> Check {
    let name = "shared-memory";
    let fix = match facts.host.container.as_deref() {
        Some("podman") => Remedy::Run("podman run --shm-size=1g …".to_owned()),
        Some("docker") => Remedy::Run("docker run --shm-size=1g …".to_owned()),
        Some(_) => Remedy::Nothing(
            "mount a memory-backed volume of 1 GiB at /dev/shm in the pod's description".to_owned(),
        ),
        None => Remedy::Run("sudo mount -o remount,size=1G /dev/shm".to_owned()),
    };
    let Some(space) = facts.shared_memory else {
        return Check::lack(
            name,
            Status::Missing,
            "programs cannot be recorded",
            "/dev/shm does not exist or cannot be read",
            Remedy::Run("sudo mount -t tmpfs -o size=1G tmpfs /dev/shm".to_owned()),
        );
    };
    let found = format!(
        "/dev/shm has {} free of {}",
        human(space.free),
        human(space.total)
    );
    if space.free < SHARED_NEEDED {
        let cause = format!(
            "{found}; the smallest recording needs {}",
            human(SHARED_NEEDED)
        );
        return Check::lack(
            name,
            Status::Missing,
            "programs cannot be recorded",
            cause,
            fix,
        );
    }
    if space.free < SHARED_WANTED {
        let detail = "programs of many threads may not find room for their buffers";
        let cause = format!("{found}; {} are comfortable", human(SHARED_WANTED));
        return Check::lack(name, Status::Degraded, detail, cause, fix);
    }
    Check::ok(name, found)
}

/// Room where recordings go.
pub(crate) fn disk_space(directory: &Directory) -> Check {
    let name = "disk-space";
    let elsewhere = || Remedy::Run("prestore record -o /a/larger/disk/DIR -- …".to_owned());
    let place = directory.path.display();
    let without = "advise -- CMD works all the same: it stores nothing unless asked";
    let Some(space) = directory.space.filter(|_| directory.writable) else {
        let cause = format!("{place} cannot be written to");
        return Check::lack(name, Status::Missing, without, cause, elsewhere());
    };
    let found = format!("{place} has {} free", human(space.free));
    if space.free < DISK_NEEDED {
        return Check::lack(name, Status::Missing, without, found, elsewhere());
    }
    if space.free < DISK_WANTED {
        let detail = "enough for functions or windows, not for minutes of scope all";
        return Check::lack(name, Status::Degraded, detail, found, elsewhere());
    }
    Check::ok(name, found)
}

/// Memory this process may use.
pub(crate) fn memory(memory: &Memory, host: &HostFacts) -> Check {
    let name = "memory";
    let (limit, whose) = match (memory.cgroup_limit, memory.available) {
        (Some(limit), Some(available)) if limit < available => (limit, "its control group allows"),
        (_, Some(available)) => (available, "the system has available"),
        (Some(limit), None) => (limit, "its control group allows"),
        (None, None) => return Check::ok(name, "no limit could be read"),
    };
    let found = format!("{whose} {}", human(limit));
    if limit >= MEMORY_WANTED {
        return Check::ok(name, found);
    }
    let limited_by_group = whose.starts_with("its");
    let remedy = match host.container.as_deref() {
        Some("docker") if limited_by_group => Remedy::Run("docker run --memory=4g …".to_owned()),
        Some("podman") if limited_by_group => Remedy::Run("podman run --memory=4g …".to_owned()),
        _ => Remedy::Nothing("use a window (--skip, --take) on programs with much data".to_owned()),
    };
    Check::lack(
        name,
        Status::Degraded,
        "programs that touch much memory may not fit beside their analysis",
        found,
        remedy,
    )
}

/// Memory that may be locked for sample buffers.
pub(crate) fn locked_memory(memory: &Memory) -> Check {
    let name = "locked-memory";
    let perf = memory.perf_mlock_kib.unwrap_or(0);
    let own = memory.lock_limit;
    let own_text = own.map_or_else(|| "unlimited".to_owned(), human);
    let found = format!("kernel.perf_event_mlock_kb is {perf}, ulimit -l is {own_text}");
    if perf >= LOCKED_WANTED_KIB || own.is_none_or(|bytes| bytes >= LOCKED_WANTED_KIB << 10) {
        return Check::ok(name, found);
    }
    Check::lack(
        name,
        Status::Degraded,
        "sample buffers become smaller, and samples may be lost (said in the output)",
        found,
        Remedy::Run("sudo sysctl kernel.perf_event_mlock_kb=516".to_owned()),
    )
}
