//! Calls by which a program has libpmemobj persist something (pmemobj_persist(3)): those that have made nothing persistent.
//!
//! The library's own redundant flushes are its own business, and which of them the program has asked for is not seen at the instruction.

use crate::finding::At;
use crate::memory::Redundant;

/// A call that a thread is in.
#[derive(Clone, Debug)]
pub(super) struct Persists {
    /// Where the program calls.
    call: At,
    /// It has written something back, or the thread had flushed something before, which waited for its fence.
    useful: bool,
    /// The first redundant flush.
    redundant: Option<Redundant>,
}

impl Persists {
    /// `waits`: the thread has flushed something since its last fence.
    pub(super) fn called(call: At, waits: bool) -> Self {
        Self {
            call,
            useful: waits,
            redundant: None,
        }
    }

    /// A line is flushed; `redundant`: which the program had flushed before.
    pub(super) fn flushed(&mut self, redundant: Option<Redundant>) {
        self.useful |= redundant.is_none();
        self.redundant = self.redundant.or(redundant);
    }

    /// It has returned: the call, if all of it was redundant.
    pub(super) fn returned(self) -> Option<Redundant> {
        let call = self.call;
        let redundant = self.redundant.filter(|_| !self.useful);
        redundant.map(|first| Redundant { at: call, ..first })
    }
}
