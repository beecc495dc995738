//! Statistics of repeated measurements: medians, quartiles, ratios of pairs; and who else used the CPUs meanwhile.
//!
//! Timings on a shared machine have a long upper tail, so everything here is by rank: medians and quartiles, never
//! means and standard deviations.

mod interval;
mod load;
mod pairs;
mod summary;

pub use interval::median_interval;
pub use load::{CpuTime, Load};
pub use pairs::ratios;
pub use summary::Summary;
