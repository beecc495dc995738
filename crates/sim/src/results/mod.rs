//! What a run tells: counts, their sums and differences, and the results made of them.
//! `docs/metrics.md` defines each.

mod boundaries;
mod build;
mod counts;
mod form;
mod latencies;
mod meter;
mod sampled;
mod series;
mod sum;

pub use build::About;
pub use counts::{
    BoundaryBytes, Counts, MemoryCounts, OpCounts, StallTimes, SystemCounts, ThreadCounts,
};
pub use form::{
    IntervalResult, Level, MemoryResult, Results, SCHEMA_VERSION, SeriesResult, ThreadResult,
};
pub use latencies::{Distributions, Latencies, LatencySummary};
pub use meter::{Measured, Meter};
pub use sampled::{Sampled, Sampling, UnitTime};
pub use series::{Interval, MOST_INTERVALS, Series};
pub use sum::Sum;
