//! What a recording notes about where it was made.

use std::fs;

use prestore_trace::container::{Clock, Engine, Host};

/// The machine: CPU model and system.
pub fn host() -> Host {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpuinfo
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':'))
        .map(|(_, name)| name.trim().to_owned());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Host {
        cpu: cpu.unwrap_or_else(|| std::env::consts::ARCH.into()),
        os: format!("{} {}", std::env::consts::OS, kernel.trim()),
        last_level_cache: prestore_calibrate::last_level_cache().unwrap_or(0),
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
