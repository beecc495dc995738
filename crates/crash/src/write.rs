//! Stores on their way to persistent memory.

use prestore_trace::ThreadId;

use crate::finding::{At, First};

/// Stores of one place to a line that are not persistent yet.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) at: At,
    /// The first of them.
    pub(crate) first: First,
    /// How many.
    pub(crate) stores: u64,
    /// Bytes of the line that nobody has stored since, a bit each.
    pub(crate) bytes: u64,
    /// Those of them that are as they were, and persistent as such.
    pub(crate) same: u64,
    pub(crate) state: State,
    /// The thread's first fence behind it.
    pub(crate) fence: Option<At>,
    /// A pointer to it is persistent, which was told.
    pub(crate) is_pointed_to: bool,
}

/// How far a write is on its way.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// In the caches.
    Dirty {
        /// The flush by the same thread, not fenced yet, that has flushed what was there before.
        over: Option<At>,
        /// The same flush, once an atomic has completed it: what is stored from then on comes after that flush, not before its fence.
        past: Option<At>,
        /// It was told that it came between flush and fence.
        told: bool,
    },
    /// Flushed by, or stored around the caches by, these threads, none of which has fenced yet.
    Flushed { flush: At, by: Vec<ThreadId> },
}

impl State {
    pub(crate) fn is_flushed_by(&self, thread: ThreadId) -> bool {
        matches!(self, Self::Flushed { by, .. } if by.contains(&thread))
    }
}

impl Write {
    /// Is `next` more of the same?
    pub(crate) fn goes_on_with(&self, next: &Self) -> bool {
        let same_state = match (&self.state, &next.state) {
            (
                State::Dirty {
                    over,
                    past: None,
                    told: false,
                },
                State::Dirty {
                    over: next_over, ..
                },
            ) => over == next_over,
            (State::Flushed { flush, by }, State::Flushed { flush: f, by: b }) => {
                flush == f && by == b
            }
            _ => false,
        };
        let fence = self.fence.is_none();
        same_state && fence && self.at == next.at && self.first.thread == next.first.thread
    }
}
