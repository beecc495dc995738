//! What a description must not say: parts that do not fit each other, or no machine could have.

mod cache;
mod core;
mod device;
mod directory;
mod memory;
mod placement;

use crate::Machine;
use crate::file::Sections;

/// Most entries of a buffer or a queue. It is far above what any machine has, and stands for one without a limit; a simulation
/// makes room for all of them, and more would fail to find it.
const MOST_ENTRIES: u64 = 1 << 16;
/// The same of channels, controllers and ports: each is a whole model of its own.
const MOST_CHANNELS: u64 = 1 << 10;
/// The same of units, blocks and lines that a device or a directory follows.
const MOST_FOLLOWED: u64 = 1 << 24;

/// Adds what is wrong with `machine`, which was read from `parts`.
pub fn check(machine: &Machine, parts: &Sections) {
    if !line(machine, parts) {
        // Whatever is counted in lines would be wrong too.
        return;
    }
    core::check(machine, parts);
    cache::check(machine, parts);
    directory::check(machine, parts);
    memory::check(machine, parts);
    placement::check(machine, parts);
}

fn line(machine: &Machine, parts: &Sections) -> bool {
    let line = machine.line.0;
    let possible = line.is_power_of_two() && (32..=128).contains(&line);
    if !possible {
        let what = format!("{line} B is no cache line");
        parts.wrong("line", what, "give a power of two from 32 B to 128 B");
    }
    possible
}

/// Least of what must not be 0: what takes a million times as long would not be told from what never ends.
const LEAST: f64 = 1e-6;

/// Adds that each of `values` that is 0, or as good as that, must not be.
fn above_zero<'a>(parts: &Sections, values: impl IntoIterator<Item = (&'a str, &'a str, f64)>) {
    for (around, name, value) in values {
        let key = format!("{around}.{name}");
        if value <= 0.0 {
            parts.wrong(&key, "is 0", "give a number above 0");
        } else if value < LEAST {
            let what = format!("{value:e} is less than any machine has");
            parts.wrong(&key, what, format!("give at least {LEAST}"));
        }
    }
}

/// Adds that each of `values` that is above `most` must not be.
fn at_most<'a>(
    parts: &Sections,
    most: u64,
    values: impl IntoIterator<Item = (&'a str, &'a str, u64)>,
) {
    for (around, name, value) in values {
        if value > most {
            let key = format!("{around}.{name}");
            let what = format!("{value} is more than any machine has");
            parts.wrong(&key, what, format!("give at most {most}"));
        }
    }
}
