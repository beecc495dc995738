//! Distributions of latencies.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::sum::Sum;
use crate::Time;

/// A distribution of durations, to two significant digits, of bounded size.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Picoseconds; `None` where the first was not recorded yet.
    histogram: Option<Histogram<u64>>,
    /// Of all of them, so that the mean is exact.
    sum: u64,
}

/// The distributions of a run.
#[derive(Clone, Debug, Default)]
pub struct Distributions {
    /// Lines of loads that the nearest cache did not have.
    pub loads: Latencies,
    /// Fences.
    pub fences: Latencies,
    /// Atomics.
    pub atomics: Latencies,
    /// Reads, by memory.
    pub reads: Vec<Latencies>,
}

/// What is said of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Durations recorded.
    pub count: u64,
    /// Mean, nanoseconds (0 where there are none).
    pub mean_ns: f64,
    /// Median, nanoseconds.
    pub p50_ns: f64,
    /// 90th percentile, nanoseconds.
    pub p90_ns: f64,
    /// 99th percentile, nanoseconds.
    pub p99_ns: f64,
    /// Largest, nanoseconds.
    pub max_ns: f64,
}

/// Significant decimal digits that are kept of a duration.
const DIGITS: u8 = 2;

impl Latencies {
    /// An empty distribution.
    pub const EMPTY: Self = Self {
        histogram: None,
        sum: 0,
    };

    /// Adds a duration.
    pub fn record(&mut self, duration: Time) {
        if self.histogram.is_none() {
            // Two digits are valid for every value, so this cannot fail.
            self.histogram = Histogram::new(DIGITS).ok();
        }
        // It grows by itself, so that every duration has its place.
        if let Some(histogram) = &mut self.histogram
            && histogram.record(duration.0).is_ok()
        {
            self.sum = self.sum.saturating_add(duration.0);
        }
    }

    /// What is said of it.
    pub fn summary(&self) -> LatencySummary {
        let Some(h) = &self.histogram else {
            return LatencySummary::default();
        };
        let at = |quantile| Time(h.value_at_quantile(quantile)).in_nanos();
        LatencySummary {
            count: h.len(),
            mean_ns: Time(self.sum).in_nanos() / h.len().max(1) as f64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            max_ns: Time(h.max()).in_nanos(),
        }
    }
}

impl Sum for Latencies {
    fn add(&mut self, other: &Self) {
        match (&mut self.histogram, &other.histogram) {
            (_, None) => {}
            (None, Some(_)) => self.histogram.clone_from(&other.histogram),
            // Both grow by themselves, so that one always fits into the other.
            (Some(mine), Some(theirs)) => {
                let _ = mine.add(theirs);
            }
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    fn subtract(&mut self, earlier: &Self) {
        if let (Some(mine), Some(theirs)) = (&mut self.histogram, &earlier.histogram) {
            // A part of this one, so that no count falls below zero.
            let _ = mine.subtract(theirs);
        }
        self.sum = self.sum.saturating_sub(earlier.sum);
    }

    fn scale(&mut self, _by: f64) {}
}

impl Default for Latencies {
    fn default() -> Self {
        Self::EMPTY
    }
}
