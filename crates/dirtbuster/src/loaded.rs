//! Lines that are read just before they are written: changed in place (`u[i] += x[i]`).
//!
//! A non-temporal store saves no fetch of such a line, and one that is narrower than the line throws it out of the cache
//! between the reads of it. It is told from the sample of lines (`cores`), so that reads of what nobody wrote before are seen too.

use crate::words::of;

/// When a thread read a sampled line last, in its own instructions plus one; 0: it was not read, or written since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadAt(u64);

impl ReadAt {
    pub(crate) fn new(now: u64, read: bool) -> Self {
        Self(if read { now + 1 } else { 0 })
    }

    fn is_within(self, window: u64, now: u64) -> bool {
        // A load may be made here before the store that it is behind in the block.
        self.0 > 0
            && (now + 1)
                .checked_sub(self.0)
                .is_some_and(|ago| ago <= window)
    }
}

/// Of the sampled lines that were begun in sequential contexts: how many, and how many had just been read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loaded {
    lines: u64,
    loaded: u64,
}

impl Loaded {
    /// A line is begun at `now`; `read`: when its writer read it, if nobody else touched it since. It counts as read just
    /// before within `window` instructions.
    pub(crate) fn begin(&mut self, read: Option<ReadAt>, window: u64, now: u64) {
        self.lines += 1;
        self.loaded += u64::from(read.is_some_and(|read| read.is_within(window, now)));
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.lines += o.lines;
        self.loaded += o.loaded;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.lines *= weight;
        self.loaded *= weight;
    }

    /// Share of the lines that had just been read.
    pub(crate) fn share(&self) -> f64 {
        of(self.loaded, self.lines)
    }
}
