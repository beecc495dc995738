//! Closed formulas for what a memory can do, from its description alone.
//!
//! They are what `machine show` prints and what the simulated memories are tested against.

mod bandwidth;
mod latency;
#[cfg(test)]
mod tests;

pub use bandwidth::{peak_read_bandwidth, peak_write_bandwidth};
pub use latency::unloaded_read_latency;
