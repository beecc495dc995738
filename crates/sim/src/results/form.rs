//! The results of a run, as users and programs read them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::counts::OpCounts;
use super::latencies::LatencySummary;
use super::sampled::Sampled;
use crate::{CoherenceCounters, FlushCounters, LevelCounters, PrefetchCounters};

/// Version of the JSON form. It rises when a key goes away or changes its meaning, not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// What a run tells. Serialised, it is the JSON form; `docs/metrics.md` defines every key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Name of the machine.
    pub machine: String,
    /// Name of the mechanism.
    pub mechanism: String,
    /// Seed of all that is random.
    pub seed: u64,
    /// What was measured: `all`, `region N`, `any region`.
    pub measured: String,
    /// Operations simulated before anything was measured.
    pub warmup: u64,
    /// Measured time, cycles of the cores' clock.
    pub cycles: u64,
    /// Measured time, seconds.
    pub seconds: f64,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Data accesses executed by all threads.
    pub accesses: u64,
    /// Cycles in which cores could issue nothing, by cause, all threads together.
    pub stalls: BTreeMap<String, u64>,
    /// Bytes over each boundary.
    pub bytes: BTreeMap<String, u64>,
    /// Bytes read from media.
    pub media_read_bytes: u64,
    /// Bytes written to media.
    pub media_write_bytes: u64,
    /// Media bytes written for each byte sent to memory; `None`: none were sent.
    pub write_amplification: Option<f64>,
    /// Media writes that needed a read first.
    pub read_modify_writes: u64,
    /// Rows (or the device's units) written to media.
    pub row_writes: u64,
    /// Bytes that caches read from memory for stores and atomics (reads for ownership).
    pub ownership_read_bytes: u64,
    /// Bytes read from and sent to memory for each instruction; `None`: none was executed.
    pub memory_bytes_per_instruction: Option<f64>,
    /// What flushes found.
    pub flushes: FlushCounters,
    /// Between the cores' caches.
    pub coherence: CoherenceCounters,
    /// What prefetchers fetched, and how much of it was asked for.
    pub prefetches: PrefetchCounters,
    /// Lines of loads that the nearest cache did not have at hand, from a free load port to the data.
    pub load_latency: LatencySummary,
    /// Fences, from dispatch to their end.
    pub fence_latency: LatencySummary,
    /// Atomics, from dispatch to their end.
    pub atomic_latency: LatencySummary,
    /// From the begin of what is handed over to the first load that follows in the other thread.
    pub handoffs: LatencySummary,
    /// The same, of hand-offs inside a source region: from where the region opened.
    pub messages: LatencySummary,
    /// By cache level, nearest first.
    pub levels: Vec<Level>,
    /// By memory.
    pub memories: Vec<MemoryResult>,
    /// By thread.
    pub threads: Vec<ThreadResult>,
    /// Over time.
    pub series: SeriesResult,
    /// What else a reader must know: one sentence each.
    pub notes: Vec<String>,
    /// The sample that all this was estimated from; `None`, and no key: the whole was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
}

/// One cache level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Its name in the machine file.
    pub name: String,
    /// What it counts, each count a key of its own.
    #[serde(flatten)]
    pub counts: LevelCounters,
    /// Loads and requests for ownership that missed, for each thousand instructions; `None`: none was executed.
    pub misses_per_1000_instructions: Option<f64>,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryResult {
    /// Its name in the machine file.
    pub name: String,
    /// Bytes read by the caches.
    pub read_bytes: u64,
    /// Bytes sent by caches and write-combining buffers.
    pub write_bytes: u64,
    /// Bytes that its controllers sent to its devices.
    pub device_write_bytes: u64,
    /// Bytes read from its media.
    pub media_read_bytes: u64,
    /// Bytes written to its media.
    pub media_write_bytes: u64,
    /// Media bytes written for each byte sent; `None`: none were sent.
    pub write_amplification: Option<f64>,
    /// Media writes that needed a read first.
    pub read_modify_writes: u64,
    /// Rows (or the device's units) written to its media.
    pub row_writes: u64,
    /// Accesses whose row (or buffered unit) was open.
    pub row_hits: u64,
    /// Accesses that opened a row in an idle bank.
    pub row_misses: u64,
    /// Accesses that first closed another row.
    pub row_conflicts: u64,
    /// Time that reads waited for an entry of the read queue or for a drain of writes, all reads
    /// together, cycles of the cores' clock.
    pub read_wait_cycles: u64,
    /// Time that writes waited for an entry of the write queue, all writes together, cycles of the
    /// cores' clock.
    pub queue_full_cycles: u64,
    /// Reads, from the last cache level and back.
    pub read_latency: LatencySummary,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadResult {
    /// Its number in the trace.
    pub thread: u32,
    /// Time its core's clock went on while it was measured, cycles.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Operations executed, each kind a key of its own.
    #[serde(flatten)]
    pub ops: OpCounts,
    /// Cycles in which it could issue nothing, by cause.
    pub stalls: BTreeMap<String, u64>,
}

/// The run over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesResult {
    /// Length of each interval of measured time, nanoseconds.
    pub interval_ns: f64,
    /// First to last; the last may be shorter.
    pub intervals: Vec<IntervalResult>,
}

/// One interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IntervalResult {
    /// Data accesses executed.
    pub accesses: u64,
    /// Bytes read from memories.
    pub read_bytes: u64,
    /// Bytes sent to memories.
    pub write_bytes: u64,
    /// Bytes written to media.
    pub media_write_bytes: u64,
    /// Cycles in which cores could issue nothing.
    pub stall_cycles: u64,
}
