//! One function a check: facts in, [`crate::Check`] out.

pub(crate) mod counters;
pub(crate) mod cpu;
pub(crate) mod engine;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod memory_types;

/// Bytes in the unit people read.
pub(crate) fn human(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}
