//! What a recording notes about where it was made.

use std::fs;
use std::sync::LazyLock;

use prestore_machine::Machine;
use prestore_report::Demoting;
use prestore_trace::container::{Clock, Engine, Host};

/// What `prestore machine calibrate` calls this host.
pub const HOST: &str = "host";

/// The machine: CPU model and system.
pub fn host() -> Host {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Host {
        cpu: cpu(),
        os: format!("{} {}", std::env::consts::OS, kernel.trim()),
        last_level_cache: last_level_cache().unwrap_or(0),
    }
}

/// The CPU's name.
pub fn cpu() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = cpuinfo.lines();
    let name = lines.find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.into(), |n| n.1.trim().to_owned())
}

/// This host as `prestore machine calibrate` has measured it, if it has.
pub fn calibrated() -> Option<&'static Machine> {
    static CALIBRATED: LazyLock<Option<Machine>> = LazyLock::new(|| {
        // A description that cannot be read is told to who names the machine.
        let machine = Machine::find(HOST).ok()?;
        // Of another CPU where a home is shared.
        machine.description.contains(&cpu()).then_some(machine)
    });
    CALIBRATED.as_ref()
}

/// Bytes of the last-level cache: as many as behave like it, where that was measured, else what the system says.
pub fn last_level_cache() -> Option<u64> {
    let measured = calibrated().and_then(|machine| machine.caches.last());
    let measured = measured.map(|cache| cache.size.0);
    measured.or_else(prestore_calibrate::last_level_cache)
}

/// What demoting does here.
pub fn demoting() -> Option<Demoting> {
    match prestore_calibrate::demotes() {
        false => Some(Demoting::Nothing),
        true => cfg!(target_arch = "x86_64").then_some(Demoting::InOrder),
    }
}

/// The instrumentation engine.
pub fn engine() -> Engine {
    Engine {
        name: "DynamoRIO".into(),
        version: prestore_tracer::Engine::version().unwrap_or("none").into(),
    }
}

/// The unit of time records. Its rate is not known without measuring it.
pub fn clock() -> Clock {
    Clock {
        name: "tsc".into(),
        hz: None,
    }
}

/// Bytes of a cache line.
pub fn line_size() -> u32 {
    fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(64)
}
