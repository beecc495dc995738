//! Counts that can be added and subtracted.

use std::collections::BTreeMap;

use super::counts::{BoundaryBytes, Counts, MemoryCounts, OpCounts, SystemCounts, ThreadCounts};
use super::latencies::Distributions;
use super::series::Interval;
use crate::{CoherenceCounters, FlushCounters, LevelCounters, PrefetchCounters, Time};

/// A sum: of two runs, or of two parts of one.
pub trait Sum {
    /// Adds `other`.
    fn add(&mut self, other: &Self);

    /// Takes away `earlier`, a part of this sum.
    fn subtract(&mut self, earlier: &Self);

    /// Makes it `by` times as much, rounded. Distributions stay as they are.
    fn scale(&mut self, by: f64);
}

impl Sum for u64 {
    fn add(&mut self, other: &Self) {
        *self += other;
    }

    fn subtract(&mut self, earlier: &Self) {
        *self = self.saturating_sub(*earlier);
    }

    fn scale(&mut self, by: f64) {
        *self = (*self as f64 * by).round() as u64;
    }
}

impl Sum for Time {
    fn add(&mut self, other: &Self) {
        *self += *other;
    }

    fn subtract(&mut self, earlier: &Self) {
        *self = self.since(*earlier);
    }

    fn scale(&mut self, by: f64) {
        self.0.scale(by);
    }
}

/// Element by element; the longer one's rest stays as it is.
impl<T: Sum + Clone> Sum for Vec<T> {
    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.iter_mut().zip(other) {
            mine.add(theirs);
        }
        let rest = other.get(self.len()..).unwrap_or_default();
        self.extend_from_slice(rest);
    }

    fn subtract(&mut self, earlier: &Self) {
        for (mine, theirs) in self.iter_mut().zip(earlier) {
            mine.subtract(theirs);
        }
    }

    fn scale(&mut self, by: f64) {
        self.iter_mut().for_each(|mine| mine.scale(by));
    }
}

impl<K: Ord + Clone, T: Sum + Clone> Sum for BTreeMap<K, T> {
    fn add(&mut self, other: &Self) {
        for (name, theirs) in other {
            match self.get_mut(name) {
                Some(mine) => mine.add(theirs),
                None => drop(self.insert(name.clone(), theirs.clone())),
            }
        }
    }

    fn subtract(&mut self, earlier: &Self) {
        for (name, theirs) in earlier {
            if let Some(mine) = self.get_mut(name) {
                mine.subtract(theirs);
            }
        }
    }

    fn scale(&mut self, by: f64) {
        self.values_mut().for_each(|mine| mine.scale(by));
    }
}

/// Field by field.
macro_rules! sum_of_fields {
    ($type:ty: $($field:ident),+) => {
        impl Sum for $type {
            fn add(&mut self, other: &Self) {
                $(self.$field.add(&other.$field);)+
            }

            fn subtract(&mut self, earlier: &Self) {
                $(self.$field.subtract(&earlier.$field);)+
            }

            fn scale(&mut self, by: f64) {
                $(self.$field.scale(by);)+
            }
        }
    };
}

sum_of_fields!(Counts: threads, system);
sum_of_fields!(ThreadCounts: clock, instructions, ops, stalls);
sum_of_fields!(OpCounts: loads, stores, nt_stores, atomics, flushes, demotes, fences);
sum_of_fields!(SystemCounts: levels, boundaries, memories, flushes, coherence, prefetches);
sum_of_fields!(LevelCounters: load_hits, load_misses, own_hits, own_misses, fills, clean_evictions,
    dirty_evictions, back_invalidations);
sum_of_fields!(BoundaryBytes: up, down);
sum_of_fields!(CoherenceCounters: upgrades, device_upgrades, snoops, peer_lines, ownership_reads, refused, filter_evictions);
sum_of_fields!(PrefetchCounters: next_line, stride, useful);
sum_of_fields!(MemoryCounts: read_bytes, write_bytes, device_write_bytes, media_read_bytes, media_write_bytes,
    read_modify_writes, row_writes, row_hits, row_misses, row_conflicts, read_wait, queue_full);
sum_of_fields!(Distributions: loads, fences, atomics, reads);
sum_of_fields!(FlushCounters: dirty, clean, absent);
sum_of_fields!(Interval: accesses, read_bytes, write_bytes, media_write_bytes, stalled);
