//! One behaviour of the caches a test, at exact times, in front of a memory of fixed latencies.

#![allow(clippy::unwrap_used, reason = "tests")]

mod coherence;
mod counting;
mod device_directory;
mod impossible;
mod inclusion;
mod latency;
mod machine;
mod memory;
mod on_its_way;
mod prefetch;
mod replacement;
mod typed;
mod victims;
mod write_back;

use memory::{Call, Log};
use prestore_machine::{CacheLevel, Inclusion, Machine, Scope};
use prestore_sim::{Below, ByteMask, Hierarchy, Time};
use prestore_trace::LineAddr;

/// All bytes of a line.
const WHOLE: ByteMask = u64::MAX as ByteMask;

/// A private level of one set of `ways` ways, 4 cycles away.
fn near(ways: u32) -> CacheLevel {
    machine::level(Scope::Private, Inclusion::NonInclusive, 1, ways, 4)
}

/// A shared level of one set of `ways` ways, 40 cycles away.
fn far(inclusion: Inclusion, ways: u32) -> CacheLevel {
    machine::level(Scope::Shared, inclusion, 1, ways, 40)
}

/// The caches of a machine of two cores.
fn caches(levels: Vec<CacheLevel>) -> Hierarchy<Log> {
    build(&machine::machine(2, levels))
}

fn build(machine: &Machine) -> Hierarchy<Log> {
    Hierarchy::new(machine, Log::default(), 1).unwrap()
}

/// Core `core` loads `line` at `at` ns; answers when it has it, in ns.
fn load(caches: &mut Hierarchy<Log>, core: u32, at: u64, line: u64) -> u64 {
    caches.load(core, Time(at * 1000), LineAddr(line)).done.0 / 1000
}

/// Core `core` makes `line` its own at `at` ns, unless it is, and writes `bytes`; answers when.
fn store(caches: &mut Hierarchy<Log>, core: u32, at: u64, line: u64, bytes: ByteMask) -> u64 {
    let line = LineAddr(line);
    let mut at = Time(at * 1000);
    if !caches.owned(core, line) {
        at = caches.own(core, at, line, false).done;
    }
    caches.write(core, at, line, bytes, &[]).0 / 1000
}

/// Lines written to memory, with their bytes.
fn writes(caches: &Hierarchy<Log>) -> Vec<(u64, ByteMask)> {
    let calls = caches.memory().0.iter();
    calls
        .filter_map(|call| match *call {
            Call::Write(_, _, line, bytes) => Some((line, bytes)),
            _ => None,
        })
        .collect()
}

/// How often memory was read.
fn reads(caches: &Hierarchy<Log>) -> usize {
    let calls = caches.memory().0.iter();
    calls.filter(|call| matches!(call, Call::Read(..))).count()
}
