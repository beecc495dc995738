//! What a core counts.

use super::stalls::Stalls;
use crate::Time;
use crate::results::{Latencies, OpCounts};

/// What one core did from the start of the run until now. Times are of its own clock;
/// `busy + issue + stalls.total()` is all of it.
#[derive(Clone, Debug)]
pub struct CoreResults {
    /// Instructions dispatched.
    pub instructions: u64,
    /// Dispatching instructions at the pipeline's width, or waiting for a load port.
    pub busy: Time,
    /// What fences, atomics, flushes and demotes cost although nothing was pending.
    pub issue: Time,
    /// Waiting, by cause.
    pub stalls: Stalls,
    /// Operations executed (an access across two lines is one).
    pub ops: OpCounts,
    /// Lines that a load found in the nearest cache, there already.
    pub load_hits: u64,
    /// Lines whose bytes a load got from a pending store.
    pub load_forwarded: u64,
    /// Lines that a load found on their way to the nearest cache.
    pub load_in_flight: u64,
    /// Lines that stores and atomics asked to own.
    pub owns: u64,
    /// Writes to the nearest cache: stores (TSO) or merged lines (weak), and atomics.
    pub drains: u64,
    /// Stores that were merged into a line the write buffer held (weak).
    pub merged: u64,
    /// Flushes that found their line modified in some cache.
    pub flushed_dirty: u64,
    /// Flushes that found their line in a cache, unmodified.
    pub flushed_clean: u64,
    /// Flushes that found their line in no cache.
    pub flushed_absent: u64,
    /// Write-combining buffers sent whole.
    pub combined_whole: u64,
    /// Write-combining buffers sent with bytes missing.
    pub combined_partial: u64,
    /// Latencies of the lines of loads, from a free load port to the data, but for those counted in
    /// [`CoreResults::load_hits`] and [`CoreResults::load_forwarded`], which take the nearest cache's.
    pub load_latency: Latencies,
    /// From the dispatch of a fence until the next instruction can dispatch.
    pub fence_latency: Latencies,
    /// The same of atomics.
    pub atomic_latency: Latencies,
}

impl CoreResults {
    pub(super) fn new(caches: usize, memories: usize) -> Self {
        Self {
            instructions: 0,
            busy: Time::ZERO,
            issue: Time::ZERO,
            stalls: Stalls::new(caches, memories),
            ops: OpCounts::default(),
            load_hits: 0,
            load_forwarded: 0,
            load_in_flight: 0,
            owns: 0,
            drains: 0,
            merged: 0,
            flushed_dirty: 0,
            flushed_clean: 0,
            flushed_absent: 0,
            combined_whole: 0,
            combined_partial: 0,
            load_latency: Latencies::EMPTY,
            fence_latency: Latencies::EMPTY,
            atomic_latency: Latencies::EMPTY,
        }
    }
}
