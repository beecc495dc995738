//! What a recording's values are, and what of memory it does not know.

use std::collections::BTreeMap;

/// Sums over all processes; bytes where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stored by instructions.
    pub stored: u64,
    /// Written by system calls and for signals.
    pub kernel: u64,
    /// What was there before, zeros not counted.
    pub images: u64,
    /// Stored by instructions, and not in the recording.
    pub unknown: u64,
    /// In ranges that others write unseen: the kernel at its own time, devices.
    pub shared: u64,
    /// Stored by two threads at the same time with different values.
    pub unordered: u64,
    /// System calls of which it is not known what they write, by number: how often.
    pub compared: BTreeMap<u64, u64>,
    /// Stretches that were not recorded, behind which nothing of memory is known.
    pub gaps: u64,
    /// Words of the recording that are values.
    pub words: u64,
}
