//! Strong types for what is easy to confuse.

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// The number of a cache line: a virtual byte address divided by the line size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineAddr(pub u64);

impl LineAddr {
    /// The line that holds byte address `addr`; `line_shift` is log2 of the line size in bytes.
    #[inline]
    pub fn of(addr: u64, line_shift: u32) -> Self {
        Self(addr >> line_shift)
    }

    /// The lines that an access of `size` bytes at `addr` touches, first and last. A size of zero
    /// touches the line of `addr`.
    #[inline]
    pub fn span(addr: u64, size: u64, line_shift: u32) -> (Self, Self) {
        let last = addr.wrapping_add(size.saturating_sub(1)).max(addr);
        (Self::of(addr, line_shift), Self::of(last, line_shift))
    }
}

/// A thread of the recorded program: its index in the trace's thread table, in order of
/// appearance (not the kernel's tid, which the table holds).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ThreadId(pub u32);

/// A process of the recorded program: its index in the trace's process table.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ProcessId(pub u32);
