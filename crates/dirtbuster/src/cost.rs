//! How long the program's parts take, in instructions of which a core executes one in that time.
//!
//! Nothing is timed: what was recorded is priced. Each instruction counts one, a store at least
//! that and more where it is wide, each line that a core must get, from memory or another core,
//! [`Thresholds::line_cost`]. Instructions that wait for other threads count nothing.

use crate::Thresholds;

/// Stores of one place, to the core's own cache.
pub(crate) fn stores(stores: u64, bytes: u64, t: &Thresholds) -> u64 {
    stores.max(bytes / t.store_width.max(1))
}

/// Lines that a core must get before it can read or write them, or that it writes past its cache.
/// Their way back from the cache to memory takes no core's time.
pub(crate) fn lines(lines: u64, t: &Thresholds) -> u64 {
    lines * t.line_cost
}
