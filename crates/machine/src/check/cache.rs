//! Checks of `[caches]`.

use super::{MOST_ENTRIES, at_most};
use crate::file::Sections;
use crate::{CacheLevel, Machine, Replacement, Scope};

/// Oldest age of QLRU: two bits.
const OLDEST: u8 = 3;
/// Most lines of all caches together, 8 GiB of them: a simulation makes room for each.
const MOST_LINES: u128 = 1 << 27;
/// A set takes the room of this many ways at least.
const FEWEST_WAYS: u32 = 8;

/// Adds what is wrong with the caches.
pub fn check(machine: &Machine, parts: &Sections) {
    if machine.caches.is_empty() {
        let help = "add [caches.L1D], nearest to the core first";
        parts.wrong("caches", "there is no cache", help);
    }
    let mut lines = 0;
    for (index, level) in machine.caches.iter().enumerate() {
        lines += room(machine, level);
        if lines > MOST_LINES {
            let what = format!(
                "{} B an instance, and with those nearer, more than any machine has",
                level.size.0
            );
            let help = format!("give all caches of all cores at most {MOST_LINES} lines");
            parts.wrong(&format!("caches.{}.size", level.name), what, help);
            return;
        }
        let around = format!("caches.{}", level.name);
        let misses = level.mshrs.unwrap_or_default();
        at_most(parts, MOST_ENTRIES, [(&*around, "mshrs", misses.into())]);
        let key = |name: &str| format!("caches.{}.{name}", level.name);
        geometry(machine, level, parts);
        replacement(level, parts);
        if level.mshrs == Some(0) {
            let help = "leave it out where misses are not limited here";
            parts.wrong(&key("mshrs"), "is 0: nothing could miss", help);
        }
        if level.scope == Scope::Private && level.slices != 1 {
            let help = "only a shared level has slices";
            parts.wrong(&key("slices"), "a private level has no slices", help);
        }
        let Some(nearer) = index.checked_sub(1).map(|i| &machine.caches[i]) else {
            continue;
        };
        if !parts.has(&key("inclusion")) {
            let help = "give inclusive, non-inclusive, non-inclusive-victim or exclusive";
            parts.wrong(&key("inclusion"), "is missing", help);
        }
        if level.scope == Scope::Private && nearer.scope == Scope::Shared {
            let what = format!("is private, behind {}, which is shared", nearer.name);
            parts.wrong(
                &key("scope"),
                what,
                "write the levels nearest to the core first",
            );
        }
        if level.latency <= nearer.latency {
            let what = format!(
                "is not above the {} cycles of {}, which is nearer",
                nearer.latency.0, nearer.name
            );
            let help = "latencies are measured from the core; write the levels nearest first";
            parts.wrong(&key("latency"), what, help);
        }
    }
}

/// Lines that all instances of a level have room for.
fn room(machine: &Machine, level: &CacheLevel) -> u128 {
    let instances = match level.scope {
        Scope::Private => machine.core.count,
        Scope::Shared => 1,
    };
    let lines = u128::from(level.size.0 / machine.line.0);
    let ways = u128::from(level.ways.max(1));
    let places = u128::from(level.ways.max(FEWEST_WAYS)).next_power_of_two();
    lines.div_ceil(ways) * places * u128::from(instances)
}

fn geometry(machine: &Machine, level: &CacheLevel, parts: &Sections) {
    let key = |name: &str| format!("caches.{}.{name}", level.name);
    for (name, value) in [("ways", level.ways), ("slices", level.slices)] {
        if value == 0 {
            parts.wrong(&key(name), "is 0", "give a number above 0");
            return;
        }
    }
    // 128-bit, because ways and slices are 32 bits each.
    let (size, line) = (u128::from(level.size.0), u128::from(machine.line.0));
    let (ways, slices) = (u128::from(level.ways), u128::from(level.slices));
    let of_a_set = line * ways * slices;
    let shape = format!("{ways} ways of {line} B lines in {slices} slice(s)");
    if size == 0 || !size.is_multiple_of(of_a_set) {
        let what = format!("{size} B cannot be divided into {shape}");
        parts.wrong(&key("size"), what, "change size, ways or slices");
        return;
    }
    let sets = size / of_a_set;
    if !sets.is_power_of_two() {
        let what = format!("{shape} make {sets} sets a slice, which address bits cannot choose");
        let help = "change size, ways or slices so that the sets of a slice are a power of two";
        parts.wrong(&key("size"), what, help);
    }
}

fn replacement(level: &CacheLevel, parts: &Sections) {
    let key = format!("caches.{}.replacement", level.name);
    match level.replacement {
        Replacement::TreePlru if !level.ways.is_power_of_two() => {
            let what = format!("a tree of bits has no {} ways", level.ways);
            parts.wrong(&key, what, "tree-plru needs a power of two; use nru or lru");
        }
        Replacement::Qlru { hit, insert, .. } => {
            for (name, age) in [("hit", hit), ("insert", insert)] {
                if age > OLDEST {
                    let what = format!("there is no age {age}");
                    parts.wrong(&format!("{key}.{name}"), what, "ages are 0 to 3");
                }
            }
        }
        _ => {}
    }
}
