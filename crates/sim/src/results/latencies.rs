//! Distributions of latencies.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::sum::Sum;
use crate::Time;

/// A distribution of durations, to two significant digits, of bounded size.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// How many durations fell into each [`class`] of picoseconds: as [`Histogram`] would count them, in a few
    /// instructions each.
    counts: Vec<u64>,
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
/// Classes of the values up to twice as many; a power of two that keeps those digits.
const HALF: u32 = 7;

/// The class of a duration: as wide as the digits that are not kept.
#[inline(always)]
fn class(duration: u64) -> usize {
    let shift = (63 - (duration | 1).leading_zeros()).max(HALF) - HALF;
    ((shift as usize) << HALF) + (duration >> shift) as usize
}

/// The shortest duration of a class.
fn shortest(class: usize) -> u64 {
    let shift = (class >> HALF).saturating_sub(1);
    ((class - (shift << HALF)) as u64) << shift
}

impl Latencies {
    /// An empty distribution.
    pub const EMPTY: Self = Self {
        counts: Vec::new(),
        sum: 0,
    };

    /// Adds a duration.
    #[inline]
    pub fn record(&mut self, duration: Time) {
        let class = class(duration.0);
        match self.counts.get_mut(class) {
            Some(count) => *count += 1,
            None => self.record_first(class),
        }
        self.sum = self.sum.saturating_add(duration.0);
    }

    #[cold]
    fn record_first(&mut self, class: usize) {
        self.counts.resize(class + 1, 0);
        self.counts[class] += 1;
    }

    /// What is said of it.
    pub fn summary(&self) -> LatencySummary {
        // Two digits are valid for every value, so this cannot fail. It grows by itself, so that every duration
        // has its place.
        let Ok(mut h) = Histogram::<u64>::new(DIGITS) else {
            return LatencySummary::default();
        };
        for (class, &count) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let _ = h.record_n(shortest(class), count);
        }
        if h.is_empty() {
            return LatencySummary::default();
        }
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
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    fn subtract(&mut self, earlier: &Self) {
        // A part of this one, so that no count falls below zero.
        for (mine, theirs) in self.counts.iter_mut().zip(&earlier.counts) {
            *mine = mine.saturating_sub(*theirs);
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

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::{DIGITS, Latencies, class, shortest};
    use crate::Time;

    #[test]
    fn classes_are_those_of_the_histogram() {
        let durations = (0..5000).chain((0..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1, power | power >> 3 | power >> 7]
        }));
        let histogram = Histogram::<u64>::new(DIGITS);
        for duration in durations {
            let lowest = histogram.as_ref().map(|h| h.lowest_equivalent(duration));
            assert_eq!(Ok(shortest(class(duration))), lowest, "{duration}");
        }
    }

    #[test]
    fn the_summary_is_that_of_the_histogram() {
        let (mut latencies, mut histogram) = (Latencies::EMPTY, Histogram::<u64>::new(DIGITS));
        for n in 0..3000_u64 {
            let duration = n * n * 7919 % 1_000_003;
            latencies.record(Time(duration));
            if let Ok(histogram) = &mut histogram {
                let _ = histogram.record(duration);
            }
        }
        let said = latencies.summary();
        let at =
            |quantile| (histogram.as_ref()).map(|h| Time(h.value_at_quantile(quantile)).in_nanos());
        assert_eq!(
            [Ok(said.p50_ns), Ok(said.p90_ns), Ok(said.p99_ns)],
            [at(0.5), at(0.9), at(0.99)]
        );
        let max = histogram.map(|h| Time(h.max()).in_nanos());
        assert_eq!((said.count, Ok(said.max_ns)), (3000, max));
    }
}
