//! What the caches count. Results have the same structures, under the names of their fields.

use serde::Serialize;

/// What happened in the caches since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HierarchyCounters {
    /// A level each, nearest first.
    pub levels: Vec<LevelCounters>,
    /// `boundaries[i]` lies between level `i` and `i + 1`; the last between the last level and memory.
    pub boundaries: Vec<BoundaryCounters>,
    /// Calls of [`crate::Below::write`]: writes to owned lines.
    pub writes: u64,
    /// Between the cores' caches.
    pub coherence: CoherenceCounters,
    /// Flushes by what they found.
    pub flushes: FlushCounters,
    /// Demotes that moved a line.
    pub demotes: u64,
    /// Demotes that found nothing to move.
    pub demotes_absent: u64,
    /// Non-temporal writes.
    pub write_arounds: u64,
    /// Non-temporal writes that took dirty bytes of the line along.
    pub write_arounds_merged: u64,
    /// Prefetchers.
    pub prefetches: PrefetchCounters,
}

/// What the cores' caches had to do with each other, and with directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoherenceCounters {
    /// Gains of write permission for a line the core could read already.
    pub upgrades: u64,
    /// Round trips to a directory on the device.
    pub device_upgrades: u64,
    /// Requests for which other cores' private caches were asked or invalidated.
    pub snoops: u64,
    /// Lines that came from another core's private caches.
    pub peer_lines: u64,
    /// Lines read from memory for a store or an atomic (reads for ownership).
    pub ownership_reads: u64,
    /// Requests that who had the line refused; they came again later.
    pub refused: u64,
    /// Entries that the snoop filter gave up, and whose lines left the private caches for it.
    pub filter_evictions: u64,
}

/// A level, all its instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LevelCounters {
    /// Loads that found their line here.
    pub load_hits: u64,
    /// Loads that looked here in vain.
    pub load_misses: u64,
    /// Requests for ownership that found the line here (with or without permission to write).
    pub own_hits: u64,
    /// Requests for ownership that looked here in vain.
    pub own_misses: u64,
    /// Lines put in, from beyond or as victims from nearer.
    pub fills: u64,
    /// Lines replaced that were clean, here and in the nearer levels that had to follow.
    pub clean_evictions: u64,
    /// Lines replaced that were dirty.
    pub dirty_evictions: u64,
    /// Copies removed here because an inclusive level beyond or the snoop filter evicted the line.
    pub back_invalidations: u64,
}

/// What crossed between two levels (or the last level and memory).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundaryCounters {
    /// Lines that went towards the cores (each all its bytes).
    pub up_lines: u64,
    /// Lines that went towards memory: victims, write-backs, write-through and non-temporal data.
    pub down_lines: u64,
    /// Dirty bytes in those.
    pub down_bytes: u64,
    /// Those of them that went to memory in the bytes that were written, not as whole lines.
    pub part_lines: u64,
    /// Bytes that went so.
    pub part_bytes: u64,
}

/// Flushes by what they found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlushCounters {
    /// Some bytes were dirty in some cache.
    pub dirty: u64,
    /// In a cache, but clean.
    pub clean: u64,
    /// In no cache.
    pub absent: u64,
}

/// What prefetchers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrefetchCounters {
    /// Lines fetched by the next-line prefetcher.
    pub next_line: u64,
    /// Lines fetched by the stride prefetcher.
    pub stride: u64,
    /// Prefetched lines that were asked for before they left.
    pub useful: u64,
}
