//! Checks of `[core]`.

use super::{LEAST, MOST_ENTRIES, above_zero, at_most};
use crate::file::Sections;
use crate::{Core, Demote, Machine, MemoryModel, MemoryType};

/// Most cores: more than any machine has today.
const MOST_CORES: u32 = 4096;
/// Slowest clock, GHz.
const SLOWEST: f64 = 1e-3;
/// Longest reorder window: one that never is the limit.
const MOST_WINDOW: u64 = 1 << 17;

fn memory_types(core: &Core, types: &[MemoryType], parts: &Sections) {
    let key = "core.memory_types";
    if !types.contains(&MemoryType::WriteBack) {
        parts.wrong(key, "does not name write-back", "every machine has it");
    }
    if types.contains(&MemoryType::WriteCombining)
        && core.memory_model == MemoryModel::Tso
        && core.write_combining.is_none()
    {
        let what = "names write-combining, and there are no write-combining buffers";
        parts.wrong(
            key,
            what,
            "leave it out, or describe [core.write_combining]",
        );
    }
}

/// Adds what is wrong with the core.
pub fn check(machine: &Machine, parts: &Sections) {
    let core = &machine.core;
    if core.count == 0 || core.count > MOST_CORES {
        let what = format!("a machine of {} cores cannot run anything", core.count);
        parts.wrong("core.count", what, format!("give 1 to {MOST_CORES}"));
    }
    above_zero(
        parts,
        [
            ("core", "clock", core.clock.0),
            ("core", "width", core.width),
            ("core", "loads_per_cycle", core.loads_per_cycle),
            ("core", "stores_per_cycle", core.stores_per_cycle),
            ("core", "fill_buffers", core.fill_buffers.into()),
            (
                "core.store_buffer",
                "entries",
                core.store_buffer.entries.into(),
            ),
        ],
    );
    if core.clock.0 >= LEAST && core.clock.0 < SLOWEST {
        let what = format!("{} GHz is slower than any machine", core.clock.0);
        parts.wrong("core.clock", what, "give at least 1 MHz");
    }
    if core.write_combining.is_some_and(|wc| wc.buffers == 0) {
        let help = "leave [core.write_combining] out where non-temporal stores are plain stores";
        parts.wrong("core.write_combining.buffers", "is 0", help);
    }
    if let Some(types) = &core.memory_types {
        memory_types(core, types, parts);
    }
    if core.flush_buffers == Some(0) {
        let help = "give a number above 0, or leave it out: flushes then take fill buffers";
        parts.wrong("core.flush_buffers", "is 0: no flush could go", help);
    }
    if core.clwb_retains && core.clwb_to_shared {
        let what = "is true, and core.clwb_retains says that the line stays where it is";
        parts.wrong("core.clwb_to_shared", what, "set one of them to false");
    }
    if core.flushes.is_empty() {
        let help = "name those the machine has; a trace's others act as the nearest of them";
        parts.wrong("core.flushes", "no flush instruction is named", help);
    }
    if core.memory_model == MemoryModel::Tso && core.demote == Demote::FromWriteBuffer {
        let what = "a TSO machine has no write buffer that holds stores back";
        parts.wrong("core.demote", what, "use nop or to-shared-level");
    }
    if core.memory_model == MemoryModel::Weak && core.atomics_overlap {
        let what = "is true: atomics of a weak memory model have no place among the stores";
        parts.wrong("core.atomics_overlap", what, "leave it out");
    }
    store_buffer(core, parts);
    sizes(core, parts);
}

/// What a simulation makes room for.
fn sizes(core: &Core, parts: &Sections) {
    at_most(parts, MOST_WINDOW, [("core", "rob", core.rob.into())]);
    let stores = &core.store_buffer;
    let ahead = &core.prefetch;
    let one = |around: &'static str, name, value: u32| (around, name, value.into());
    let if_any = |around: &'static str, name, value: Option<u32>| {
        (around, name, value.unwrap_or_default().into())
    };
    let stored = "core.store_buffer";
    at_most(
        parts,
        MOST_ENTRIES,
        [
            one("core", "fill_buffers", core.fill_buffers),
            if_any("core", "flush_buffers", core.flush_buffers),
            one(stored, "entries", stores.entries),
            one(stored, "rfo_ahead", stores.rfo_ahead),
            if_any(stored, "rfo_lines", stores.rfo_lines),
            one(stored, "drain_parallel", stores.drain_parallel),
            if_any(stored, "fence_parallel", stores.fence_parallel),
            if_any(stored, "push_parallel", stores.push_parallel),
            if_any(
                "core.write_combining",
                "buffers",
                core.write_combining.map(|wc| wc.buffers),
            ),
            one("core.prefetch", "stride_streams", ahead.stride_streams),
            one("core.prefetch", "stride_degree", ahead.stride_degree),
            one("core.prefetch", "stride_step", ahead.stride_step),
        ],
    );
}

/// Keys of `[core.store_buffer]` that only one memory model has a use for.
const TSO_ONLY: [&str; 5] = [
    "rfo_ahead",
    "rfo_lines",
    "leaves_when_granted",
    "flushes_in_order",
    "merge",
];
/// Those of TSO that it cannot do without.
const TSO_NEEDS: [&str; 1] = ["rfo_ahead"];
const WEAK_ONLY: [&str; 7] = [
    "drain_at",
    "timeout",
    "merge_restarts_timer",
    "drain_parallel",
    "fence_parallel",
    "push_parallel",
    "drain",
];
/// Those of a weak model that it cannot do without.
const WEAK_NEEDS: [&str; 3] = ["drain_at", "drain_parallel", "drain"];

fn store_buffer(core: &Core, parts: &Sections) {
    let key = |name: &str| format!("core.store_buffer.{name}");
    let (model, useless, needed): (_, &[&str], &[&str]) = match core.memory_model {
        MemoryModel::Tso => ("tso", &WEAK_ONLY, &TSO_NEEDS),
        MemoryModel::Weak => ("weak", &TSO_ONLY, &WEAK_NEEDS),
    };
    for name in useless.iter().filter(|name| parts.has(&key(name))) {
        let what = format!("means nothing under the memory model '{model}'");
        parts.wrong(&key(name), what, "take it out, or set it to \"none\"");
    }
    for name in needed.iter().filter(|name| !parts.has(&key(name))) {
        let what = format!("is missing, and the memory model '{model}' needs it");
        parts.wrong(&key(name), what, "add it, with its source");
    }
    let buffer = &core.store_buffer;
    if buffer
        .drain_at
        .is_some_and(|at| at == 0 || at > buffer.entries)
    {
        let what = format!(
            "the buffer never holds that many of its {} lines",
            buffer.entries
        );
        parts.wrong(&key("drain_at"), what, "give 1 to the number of entries");
    }
    if core.memory_model == MemoryModel::Weak && buffer.drain_parallel == 0 {
        let help = "give a number above 0";
        parts.wrong(&key("drain_parallel"), "is 0: nothing could drain", help);
    }
    for (name, limit) in [
        ("fence_parallel", buffer.fence_parallel),
        ("push_parallel", buffer.push_parallel),
    ] {
        if limit == Some(0) {
            let help = "give a number above 0, or leave it out: they then drain with the others";
            parts.wrong(&key(name), "is 0: no line could go", help);
        }
    }
    if core.memory_model == MemoryModel::Tso && buffer.rfo_ahead == 0 {
        let help = "1 means that no store fetches its line ahead of its turn";
        parts.wrong(&key("rfo_ahead"), "is 0: no store could be done", help);
    }
    if buffer.rfo_lines == Some(0) {
        let help = "give a number above 0, or leave it out: fill buffers are the limit then";
        parts.wrong(&key("rfo_lines"), "is 0: no store could be done", help);
    }
}
