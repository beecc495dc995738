//! Calls by which a program has libpmemobj persist something (pmemobj_persist(3)): those that have made nothing persistent.
//!
//! The library's own flushes in vain are its own business, and which of them the program has asked for is not seen at the instruction.

use crate::finding::At;
use crate::memory::Vain;

/// A call that a thread is in.
#[derive(Clone, Debug)]
pub(super) struct Persists {
    /// Where the program calls.
    call: At,
    /// It has flushed something, or something had been flushed before, which waited for its fence.
    useful: bool,
    /// The first flush in vain.
    vain: Option<Vain>,
}

impl Persists {
    /// `waits`: the thread has flushed something since its last fence.
    pub(super) fn called(call: At, waits: bool) -> Self {
        Self {
            call,
            useful: waits,
            vain: None,
        }
    }

    /// A line is flushed, or that is in vain, as the program had it flushed before.
    pub(super) fn flushed(&mut self, vain: Option<Vain>) {
        self.useful |= vain.is_none();
        self.vain = self.vain.or(vain);
    }

    /// It has returned: the call, if that was in vain.
    pub(super) fn returned(self) -> Option<Vain> {
        let call = self.call;
        let vain = self.vain.filter(|_| !self.useful);
        vain.map(|vain| Vain { at: call, ..vain })
    }
}
