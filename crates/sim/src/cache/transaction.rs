//! An operation on a line under way.

use crate::Time;

/// What the steps of one operation tell each other.
#[derive(Debug)]
pub(super) struct Transaction {
    /// For which core.
    pub(super) core: u32,
    /// When it began: data that comes later is on its way.
    pub(super) asked: Time,
    /// The time that its fill or write-back has come to.
    pub(super) now: Time,
    /// It is the first use of a prefetched line.
    pub(super) prefetch_hit: bool,
    /// A private level took a victim.
    pub(super) private_victims: bool,
    /// Levels, cores and lines that those private levels lost.
    pub(super) left_private: Vec<(usize, u32, u64)>,
}

impl Transaction {
    /// For `core`, begun at `at`; `room` is an empty buffer.
    #[inline]
    pub(super) fn new(core: u32, at: Time, room: Vec<(usize, u32, u64)>) -> Self {
        Self {
            core,
            asked: at,
            now: at,
            prefetch_hit: false,
            private_victims: false,
            left_private: room,
        }
    }
}
