//! In which larger caches written lines would still be when they are used again.
//!
//! Verdicts are made for caches of the sizes that the thresholds name. A last-level cache that holds more may keep what is
//! written until it is used again, and then the verdict is another one: so of each use that comes later it is counted which
//! cache would have sufficed.

use crate::cores::SAMPLE;
use crate::lines::LINE;
use crate::recency::Recency;

/// Last-level caches that are told apart, bytes: beyond `reach_bytes`, up to the largest of one processor.
pub(crate) const CACHES: [u64; 6] = [
    16 << 20,
    32 << 20,
    64 << 20,
    128 << 20,
    256 << 20,
    512 << 20,
];

/// Sampled lines that the largest of them holds.
pub(crate) const MOST_LINES: u64 = CACHES[CACHES.len() - 1] / (SAMPLE * LINE);

/// Since when, in its own time, a thread has touched no more than its part of each of [`CACHES`] holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Horizons([u64; CACHES.len()]);

impl Horizons {
    /// Where so many `threads` at work fill the caches.
    pub(crate) fn of(recency: &Recency, threads: usize) -> Self {
        let part = |bytes: u64| bytes / (SAMPLE * LINE) / threads.max(1) as u64;
        Self(recency.since_each(CACHES.map(part)))
    }

    /// The smallest cache that holds what was touched at `time`.
    fn smallest(&self, time: u64) -> Option<usize> {
        self.0.iter().position(|&since| time >= since)
    }
}

/// Sequentially written lines that were used again when the caches of the thresholds had lost them, by the smallest cache that
/// would have kept them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Far {
    reread: [u64; CACHES.len()],
    rewritten: [u64; CACHES.len()],
}

impl Far {
    /// A line written at `time` is read for the first time.
    pub(crate) fn read(&mut self, horizons: &Horizons, time: u64) {
        if let Some(at) = horizons.smallest(time) {
            self.reread[at] += 1;
        }
    }

    /// A line written at `time` is written again.
    pub(crate) fn write(&mut self, horizons: &Horizons, time: u64) {
        if let Some(at) = horizons.smallest(time) {
            self.rewritten[at] += 1;
        }
    }

    /// For each cache, smallest first: its bytes, and how many lines it keeps until they are read, and written, beyond those
    /// that smaller ones keep.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let sums = (0, 0);
        let all = CACHES.iter().zip(self.reread).zip(self.rewritten);
        all.scan(sums, |sums, ((&bytes, reread), rewritten)| {
            *sums = (sums.0 + reread, sums.1 + rewritten);
            Some((bytes, sums.0, sums.1))
        })
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        for (sum, n) in self.all().zip(o.reread.iter().chain(&o.rewritten)) {
            *sum += n;
        }
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.all().for_each(|n| *n *= weight);
    }

    fn all(&mut self) -> impl Iterator<Item = &mut u64> {
        self.reread.iter_mut().chain(&mut self.rewritten)
    }
}
