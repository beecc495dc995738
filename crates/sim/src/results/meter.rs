//! Measuring: which part of the sums of a run counts.

use super::counts::Counts;
use super::latencies::{Distributions, Latencies};
use super::series::Series;
use super::sum::Sum;
use crate::Time;

/// Collects what happens while measuring is on.
#[derive(Debug, Default)]
pub struct Meter {
    /// Sums of the parts measured so far.
    total: Counts,
    /// Measured time so far.
    elapsed: Time,
    /// Sums and time at which the part being measured began.
    began: Option<(Counts, Distributions, Time)>,
    /// Latencies of the parts measured so far.
    latencies: Distributions,
    /// Latencies of hand-offs.
    pub handoffs: Latencies,
    /// Latencies of messages.
    pub messages: Latencies,
    /// Over time.
    series: Series,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Sums.
    pub counts: Counts,
    /// Time.
    pub elapsed: Time,
    /// Latencies in cores and memories.
    pub latencies: Distributions,
    /// Latencies of hand-offs.
    pub handoffs: Latencies,
    /// Latencies of messages.
    pub messages: Latencies,
    /// Over time.
    pub series: Series,
}

impl Meter {
    /// Is measuring on?
    pub fn is_on(&self) -> bool {
        self.began.is_some()
    }

    /// Switches measuring on; the sums are `counts`.
    pub fn start(&mut self, at: Time, counts: Counts, latencies: Distributions) {
        self.series.begin(&counts);
        self.began = Some((counts, latencies, at));
    }

    /// Switches measuring off.
    pub fn stop(&mut self, at: Time, mut counts: Counts, mut latencies: Distributions) {
        let Some((before, latencies_before, began)) = self.began.take() else {
            return;
        };
        self.elapsed += at.since(began);
        self.series.sample(self.elapsed, &counts);
        counts.subtract(&before);
        self.total.add(&counts);
        latencies.subtract(&latencies_before);
        self.latencies.add(&latencies);
    }

    /// When the time series wants the sums.
    pub fn due(&self) -> Time {
        match &self.began {
            // A clock may be a little earlier than the one that switched measuring on.
            Some((_, _, began)) => *began + self.series.due().since(self.elapsed),
            None => Time(u64::MAX),
        }
    }

    /// The sums are `counts`, for the time series.
    pub fn sample(&mut self, at: Time, counts: &Counts) {
        if let Some((_, _, began)) = &self.began {
            self.series.sample(self.elapsed + at.since(*began), counts);
        }
    }

    /// What was measured.
    pub fn finish(self) -> Measured {
        Measured {
            counts: self.total,
            elapsed: self.elapsed,
            latencies: self.latencies,
            handoffs: self.handoffs,
            messages: self.messages,
            series: self.series,
        }
    }
}
