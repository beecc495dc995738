//! A line on its way down.

use crate::{ByteMask, Time};

/// A line that goes from level to level, or to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaver {
    pub(super) line: u64,
    pub(super) dirty: ByteMask,
    /// Of its copy.
    pub(super) flags: u64,
    /// When its data comes to where it leaves.
    pub(super) ready: Time,
}

impl Leaver {
    /// A line that may only be read, at hand already.
    pub(super) fn at_hand(line: u64, dirty: ByteMask) -> Self {
        Self {
            line,
            dirty,
            flags: 0,
            ready: Time::ZERO,
        }
    }
}
