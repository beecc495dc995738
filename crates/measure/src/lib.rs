//! Statistics of repeated measurements: medians, quartiles, ratios of pairs.
//!
//! Timings on a shared machine have a long upper tail, so everything here is by rank: medians and quartiles, never
//! means and standard deviations.

mod pairs;
mod summary;

pub use pairs::ratios;
pub use summary::Summary;
