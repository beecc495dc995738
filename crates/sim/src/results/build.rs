//! From what was measured to results.

use std::collections::BTreeMap;

use prestore_machine::Machine;
use prestore_machine::quantity::Clock;

use super::boundaries;
use super::counts::{MemoryCounts, StallTimes, ThreadCounts};
use super::form::{
    IntervalResult, Level, MemoryResult, Results, SCHEMA_VERSION, SeriesResult, ThreadResult,
};
use super::meter::Measured;
use super::series::Series;
use super::sum::Sum;
use crate::{Cause, ServedBy, Time};

/// What the results say of the run beside what was measured.
#[derive(Clone, Debug)]
pub struct About {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Seed.
    pub seed: u64,
    /// What was measured.
    pub measured: String,
    /// Operations simulated before.
    pub warmup: u64,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

impl Results {
    /// The results of what was `measured` on `machine`.
    pub fn new(machine: &Machine, about: About, measured: &Measured) -> Self {
        let clock = machine.core.clock;
        let counts = &measured.counts;
        let mut stalls = StallTimes::new();
        for thread in &counts.threads {
            stalls.add(&thread.stalls);
        }
        let mut all = MemoryCounts::default();
        for memory in &counts.system.memories {
            all.add(memory);
        }
        let instructions = counts.threads.iter().map(|t| t.instructions).sum();
        Self {
            schema_version: SCHEMA_VERSION,
            machine: machine.name.clone(),
            mechanism: about.mechanism,
            seed: about.seed,
            measured: about.measured,
            warmup: about.warmup,
            cycles: cycles(measured.elapsed, clock),
            seconds: measured.elapsed.in_nanos() / 1e9,
            instructions,
            accesses: counts.threads.iter().map(|t| t.ops.accesses()).sum(),
            stalls: all_cycles(&stalls, machine),
            bytes: boundaries::bytes(machine, &counts.system),
            media_read_bytes: all.media_read_bytes,
            media_write_bytes: all.media_write_bytes,
            write_amplification: amplification(&all),
            read_modify_writes: all.read_modify_writes,
            row_writes: all.row_writes,
            ownership_read_bytes: counts.system.coherence.ownership_reads * machine.line.0,
            memory_bytes_per_instruction: per(all.read_bytes + all.write_bytes, instructions),
            flushes: counts.system.flushes,
            coherence: counts.system.coherence,
            prefetches: counts.system.prefetches,
            load_latency: measured.latencies.loads.summary(),
            fence_latency: measured.latencies.fences.summary(),
            atomic_latency: measured.latencies.atomics.summary(),
            handoffs: measured.handoffs.summary(),
            messages: measured.messages.summary(),
            levels: levels(machine, measured, instructions),
            memories: memories(machine, measured),
            threads: (0..)
                .zip(&counts.threads)
                .map(|(number, t)| thread(number, t, machine))
                .collect(),
            series: series(&measured.series, clock),
            notes: about.notes,
            sampled: None,
        }
    }
}

fn levels(machine: &Machine, measured: &Measured, instructions: u64) -> Vec<Level> {
    (machine.caches.iter())
        .zip(&measured.counts.system.levels)
        .map(|(cache, counts)| Level {
            name: cache.name.clone(),
            counts: *counts,
            misses_per_1000_instructions: per(
                1000 * (counts.load_misses + counts.own_misses),
                instructions,
            ),
        })
        .collect()
}

fn memories(machine: &Machine, measured: &Measured) -> Vec<MemoryResult> {
    (machine.memories.iter())
        .zip(&measured.counts.system.memories)
        .enumerate()
        .map(|(index, (memory, counts))| MemoryResult {
            name: memory.name.clone(),
            read_bytes: counts.read_bytes,
            write_bytes: counts.write_bytes,
            device_write_bytes: counts.device_write_bytes,
            media_read_bytes: counts.media_read_bytes,
            media_write_bytes: counts.media_write_bytes,
            write_amplification: amplification(counts),
            read_modify_writes: counts.read_modify_writes,
            row_writes: counts.row_writes,
            row_hits: counts.row_hits,
            row_misses: counts.row_misses,
            row_conflicts: counts.row_conflicts,
            read_wait_cycles: cycles(counts.read_wait, machine.core.clock),
            queue_full_cycles: cycles(counts.queue_full, machine.core.clock),
            read_latency: (measured.latencies.reads.get(index))
                .map_or_else(Default::default, |l| l.summary()),
        })
        .collect()
}

fn thread(number: u32, counts: &ThreadCounts, machine: &Machine) -> ThreadResult {
    ThreadResult {
        thread: number,
        cycles: cycles(counts.clock, machine.core.clock),
        instructions: counts.instructions,
        ops: counts.ops,
        stalls: all_cycles(&counts.stalls, machine),
    }
}

fn series(series: &Series, clock: Clock) -> SeriesResult {
    SeriesResult {
        interval_ns: series.width().in_nanos(),
        intervals: (series.intervals().iter())
            .map(|i| IntervalResult {
                accesses: i.accesses,
                read_bytes: i.read_bytes,
                write_bytes: i.write_bytes,
                media_write_bytes: i.media_write_bytes,
                stall_cycles: cycles(i.stalled, clock),
            })
            .collect(),
    }
}

fn amplification(memory: &MemoryCounts) -> Option<f64> {
    (memory.write_bytes > 0).then(|| memory.media_write_bytes as f64 / memory.write_bytes as f64)
}

fn per(n: u64, instructions: u64) -> Option<f64> {
    (instructions > 0).then(|| n as f64 / instructions as f64)
}

fn cycles(time: Time, clock: Clock) -> u64 {
    time.in_cycles(clock).round() as u64
}

fn all_cycles(stalls: &StallTimes, machine: &Machine) -> BTreeMap<String, u64> {
    (stalls.iter())
        .map(|(cause, time)| (name(*cause, machine), cycles(*time, machine.core.clock)))
        .collect()
}

/// Cores know levels and memories by number, users by name.
fn name(cause: Cause, machine: &Machine) -> String {
    let by = match cause {
        Cause::Load(ServedBy::Cache(i)) => machine.caches.get(usize::from(i)).map(|c| &c.name),
        Cause::Load(ServedBy::Memory(i)) => machine.memories.get(usize::from(i)).map(|m| &m.name),
        _ => None,
    };
    by.map_or_else(|| cause.to_string(), |name| format!("load_{name}"))
}
