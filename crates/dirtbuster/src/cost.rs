//! How long the program's parts take, in instructions of which a core executes one in that time.
//!
//! Nothing is timed: what was recorded is priced. Each instruction counts one, a store at least
//! that and more where it is wide, each line that moves between core and memory
//! [`Thresholds::line_cost`]. Instructions that wait for other threads count nothing.

use crate::Thresholds;

/// Stores of one place, to the core's own cache.
pub(crate) fn stores(stores: u64, bytes: u64, t: &Thresholds) -> u64 {
    stores.max(bytes / t.store_width.max(1))
}

/// Moving the lines that a place wrote and that left for memory.
pub(crate) fn lines(lines: u64, non_temporal: bool, t: &Thresholds) -> u64 {
    let moves = if non_temporal { 1 } else { 2 };
    lines * moves * t.line_cost
}
