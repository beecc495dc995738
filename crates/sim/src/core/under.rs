//! An operation that has begun and goes on later, so that other cores come to their turn meanwhile.

use crate::Time;

/// How far the operation under way has come. An operation is left at the points where the core's clock has
/// to go on; whoever resumes it calls the same again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Under {
    /// When it began; `None`: it has not been left yet.
    began: Option<Time>,
    /// Its lines that are done.
    pub lines: u64,
    /// Its steps that are done, where it has several.
    pub steps: u8,
    /// All that waited only to be asked was.
    pub drained: bool,
    /// Room for its line was asked for.
    pub asked: bool,
    /// What its line has to wait for.
    pub ready: Time,
    /// How many loads back the one is whose data it stores.
    pub after: u16,
}

impl Under {
    /// Is this the first call for the operation?
    #[inline]
    pub fn is_new(&self) -> bool {
        self.began.is_none()
    }

    /// When the operation began, where it is `now`.
    #[inline]
    pub fn began(&self, now: Time) -> Time {
        self.began.unwrap_or(now)
    }

    /// The operation, which began at `now` if it has not before, goes on later.
    pub fn leave(&mut self, began: Time) {
        self.began.get_or_insert(began);
    }

    /// It is done: the next begins anew.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// One more of its lines is done.
    pub fn line_done(&mut self) {
        self.lines += 1;
        (self.asked, self.ready) = (false, Time::ZERO);
    }
}
