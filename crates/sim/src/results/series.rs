//! How a run went over time.

use super::counts::Counts;
use super::sum::Sum;
use crate::Time;

/// Intervals at most: with one more, neighbours are merged pairwise and intervals are twice as long.
pub const MOST_INTERVALS: usize = 256;

/// Length of the first intervals.
const FIRST_WIDTH: Time = Time(1_000_000);

/// What happened in one interval, all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Data accesses.
    pub accesses: u64,
    /// Bytes read from memories.
    pub read_bytes: u64,
    /// Bytes written to memories.
    pub write_bytes: u64,
    /// Bytes written to media.
    pub media_write_bytes: u64,
    /// Time in which a core could issue nothing.
    pub stalled: Time,
}

impl Interval {
    /// The sums of `counts`.
    fn of(counts: &Counts) -> Self {
        let memories = &counts.system.memories;
        Self {
            accesses: counts.threads.iter().map(|t| t.ops.accesses()).sum(),
            read_bytes: memories.iter().map(|m| m.read_bytes).sum(),
            write_bytes: memories.iter().map(|m| m.write_bytes).sum(),
            media_write_bytes: memories.iter().map(|m| m.media_write_bytes).sum(),
            stalled: Time(
                (counts.threads.iter())
                    .flat_map(|t| t.stalls.values().map(|s| s.0))
                    .sum(),
            ),
        }
    }
}

/// A time series of bounded size. Its time is measured time: what is not measured is cut out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    width: Time,
    intervals: Vec<Interval>,
    /// Sums at the last sample.
    last: Interval,
    /// Measured time of the last sample.
    at: Time,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            width: FIRST_WIDTH,
            intervals: Vec::new(),
            last: Interval::default(),
            at: Time::ZERO,
        }
    }
}

impl Series {
    /// Measuring begins, or begins again, with these sums.
    pub fn begin(&mut self, counts: &Counts) {
        self.last = Interval::of(counts);
    }

    /// At measured time `at` the sums are `counts`; the difference belongs to the interval in which
    /// the sample before was taken.
    pub fn sample(&mut self, at: Time, counts: &Counts) {
        let now = Interval::of(counts);
        let mut difference = now;
        difference.subtract(&self.last);
        let index = self.index(self.at);
        self.intervals[index].add(&difference);
        self.last = now;
        self.at = self.at.max(at);
        // The run got this far, even where nothing happened.
        self.index(Time(self.at.0.saturating_sub(1)));
    }

    /// Measured time at which the next sample is due.
    pub fn due(&self) -> Time {
        Time((self.at.0 / self.width.0 + 1) * self.width.0)
    }

    /// Length of an interval.
    pub fn width(&self) -> Time {
        self.width
    }

    /// The intervals, first to last.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The interval of measured time `at`, which is made where it is not there yet.
    fn index(&mut self, at: Time) -> usize {
        while at.0 / self.width.0 >= MOST_INTERVALS as u64 {
            self.halve();
        }
        let index = (at.0 / self.width.0) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        index
    }

    fn halve(&mut self) {
        for i in 0..self.intervals.len().div_ceil(2) {
            let mut merged = self.intervals[2 * i];
            if let Some(second) = self.intervals.get(2 * i + 1) {
                merged.add(second);
            }
            self.intervals[i] = merged;
        }
        self.intervals.truncate(self.intervals.len().div_ceil(2));
        self.width.0 *= 2;
    }
}
