//! An entry of the store buffer.

use prestore_trace::{FlushKind, LineAddr};

use super::UNKNOWN;
use crate::core::stores::Way;
use crate::{ByteMask, Time};

/// A store, or what stands among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub line: LineAddr,
    /// None of a flush.
    pub bytes: ByteMask,
    /// When it retired.
    pub ready: Time,
    /// When it may ask for its line: it retired, and is one of the oldest.
    pub ask: Time,
    /// When the line is owned, so that it may leave.
    pub owned: Time,
    /// A flush that keeps its place among the stores.
    pub flush: Option<FlushKind>,
    /// An atomic among the stores: it reads, too, so it waits for data, and nothing is forwarded from it.
    pub atomic: bool,
    /// Where it goes.
    pub way: Way,
    /// One more than the number of the entry before whose line shares the bucket; 0: none.
    pub before: u64,
}

impl Entry {
    /// A store that has not asked for its line.
    #[inline(always)]
    pub fn of(line: LineAddr, bytes: ByteMask, ready: Time) -> Self {
        Self {
            line,
            bytes,
            ready,
            ask: UNKNOWN,
            owned: UNKNOWN,
            flush: None,
            atomic: false,
            way: Way::Cached,
            before: 0,
        }
    }
}
