//! A copy of a line in a cache: one word, so that little of the host's caches is used.

/// Line number (59 bits) and state. Zero: no copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copy(u64);

const STATE: u64 = 0b11;
const CLEAN: u64 = 1;
const PARTIAL: u64 = 2;
const WHOLE: u64 = 3;
const SHIFT: u32 = 5;

/// Its core may write the line (MESI's E or M). Private levels only.
pub(super) const EXCLUSIVE: u64 = 1 << 2;
/// A prefetcher brought it and nobody has asked for it yet.
pub(super) const PREFETCHED: u64 = 1 << 3;
/// Its data may still be on the way.
pub(super) const PENDING: u64 = 1 << 4;

impl Copy {
    /// A clean copy of `line` with `flags`.
    #[inline]
    pub(super) fn clean(line: u64, flags: u64) -> Self {
        Self((line << SHIFT) | flags | CLEAN)
    }

    #[inline]
    pub(super) fn line(self) -> u64 {
        self.0 >> SHIFT
    }

    /// Is there one?
    pub(super) fn exists(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub(super) fn is(self, line: u64) -> bool {
        self.0 >> SHIFT == line && self.0 != 0
    }

    #[inline]
    pub(super) fn has(self, flags: u64) -> bool {
        self.0 & flags != 0
    }

    #[inline]
    pub(super) fn set(&mut self, flags: u64) {
        self.0 |= flags;
    }

    #[inline]
    pub(super) fn clear(&mut self, flags: u64) {
        self.0 &= !flags;
    }

    /// Some bytes are dirty, which ones stands in the mask beside it.
    #[inline]
    pub(super) fn is_partial(self) -> bool {
        self.0 & STATE == PARTIAL
    }

    /// All bytes are dirty.
    #[inline]
    pub(super) fn is_whole(self) -> bool {
        self.0 & STATE == WHOLE
    }

    #[inline]
    pub(super) fn set_clean(&mut self) {
        self.0 = (self.0 & !STATE) | CLEAN;
    }

    #[inline]
    pub(super) fn set_partial(&mut self) {
        self.0 = (self.0 & !STATE) | PARTIAL;
    }

    #[inline]
    pub(super) fn set_whole(&mut self) {
        self.0 |= WHOLE;
    }
}
