//! Whose writing a line belongs to.

/// To what the writing of a line belongs.
///
/// Most writes never grow beyond their line (stack, counters, random tables). Such a *single*
/// needs no context of its own: all it would hold is in the line's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner(u32);

const SINGLE: u32 = 1 << 31;
/// The line was flushed since it was written; in a line's state only.
const FLUSHED: u32 = 1 << 30;

impl Owner {
    /// Nobody whose writes are tracked.
    pub(crate) const NONE: Self = Self(0);

    /// This line only, begun by the origin.
    #[inline]
    pub(crate) fn single(origin: u32) -> Self {
        Self(origin | SINGLE)
    }

    /// The context of this number (which is not 0).
    #[inline]
    pub(crate) fn context(index: u32) -> Self {
        Self(index)
    }

    #[inline]
    pub(crate) fn as_single(self) -> Option<u32> {
        (self.0 & SINGLE != 0).then_some(self.0 & !(SINGLE | FLUSHED))
    }

    #[inline]
    pub(crate) fn as_context(self) -> Option<u32> {
        let bare = self.0 & !FLUSHED;
        // Neither a single, by the sign, nor nobody: one comparison.
        (bare as i32 > 0).then_some(bare)
    }

    /// Without the mark of a flush.
    #[inline]
    pub(crate) fn bare(self) -> Self {
        Self(self.0 & !FLUSHED)
    }

    #[inline]
    pub(crate) fn is_flushed(self) -> bool {
        self.0 & FLUSHED != 0
    }

    /// With the mark of a flush, so that the next write of the line, whoever's, is looked at.
    pub(crate) fn flushed(self) -> Self {
        Self(self.0 | FLUSHED)
    }

    /// Flushed if `other` is.
    #[inline]
    pub(crate) fn as_flushed_as(self, other: Self) -> Self {
        Self(self.0 | other.0 & FLUSHED)
    }
}
