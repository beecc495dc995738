//! What is counted while a run goes on: sums that can be added and subtracted, so that any part of
//! a run can be told apart and runs can be merged.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Cause, CoherenceCounters, FlushCounters, LevelCounters, PrefetchCounters, Time};

/// Durations in which nothing could issue, by cause.
pub type StallTimes = BTreeMap<Cause, Time>;

/// All that is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// By thread.
    pub threads: Vec<ThreadCounts>,
    /// Below the cores.
    pub system: SystemCounts,
}

/// What one thread's core counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadCounts {
    /// The core's clock.
    pub clock: Time,
    /// Instructions executed.
    pub instructions: u64,
    /// Operations of each kind.
    pub ops: OpCounts,
    /// Time in which nothing could issue, by cause.
    pub stalls: StallTimes,
}

/// Operations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpCounts {
    /// Loads.
    pub loads: u64,
    /// Cached stores.
    pub stores: u64,
    /// Non-temporal stores.
    pub nt_stores: u64,
    /// Atomic read-modify-writes.
    pub atomics: u64,
    /// Write-backs of lines.
    pub flushes: u64,
    /// Demotions of lines.
    pub demotes: u64,
    /// Fences.
    pub fences: u64,
}

impl OpCounts {
    /// Data accesses: loads, stores of both sorts, atomics.
    pub fn accesses(&self) -> u64 {
        self.loads + self.stores + self.nt_stores + self.atomics
    }
}

/// What caches and memories count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemCounts {
    /// By cache level, nearest first; a private level's instances together.
    pub levels: Vec<LevelCounters>,
    /// Between each level and the next farther one (or memory).
    pub boundaries: Vec<BoundaryBytes>,
    /// By memory, in the machine's order.
    pub memories: Vec<MemoryCounts>,
    /// What flushes found.
    pub flushes: FlushCounters,
    /// Between the cores' caches.
    pub coherence: CoherenceCounters,
    /// Prefetchers.
    pub prefetches: PrefetchCounters,
}

/// What crossed a boundary, whole lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundaryBytes {
    /// Bytes that came from the farther side.
    pub up: u64,
    /// Bytes that went there.
    pub down: u64,
}

/// What a memory counts: its controllers and devices together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Bytes read by the caches.
    pub read_bytes: u64,
    /// Bytes that caches and write-combining buffers sent.
    pub write_bytes: u64,
    /// Bytes that the controllers sent to the devices: less, where writes of a line are merged; whole
    /// transfers.
    pub device_write_bytes: u64,
    /// Bytes read from the media.
    pub media_read_bytes: u64,
    /// Bytes written to the media.
    pub media_write_bytes: u64,
    /// Media writes that needed a read first.
    pub read_modify_writes: u64,
    /// Rows (or the device's units) written to the media.
    pub row_writes: u64,
    /// Accesses whose row (or buffered unit) was open.
    pub row_hits: u64,
    /// Accesses that opened a row in an idle bank.
    pub row_misses: u64,
    /// Accesses that first closed another row.
    pub row_conflicts: u64,
    /// Time that reads waited for an entry of the read queue or for a drain of writes.
    pub read_wait: Time,
    /// Time that writes waited for an entry of the write queue.
    pub queue_full: Time,
}
