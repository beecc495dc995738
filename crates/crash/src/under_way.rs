//! What threads have under way to memory, and what moves it on.

use crate::finding::{At, First};
use crate::memory::Key;
use crate::pointers::Pointer;

/// What a thread has under way.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Lines that it has stored to, or flushed, since its last fence or atomic.
    pub(crate) lines: Vec<Key>,
    /// Those in which an atomic has come between a store and its flush, since its last fence.
    pub(crate) past: Vec<Key>,
    /// Pointers that are persistent by flushes which need no fence, since then.
    pub(crate) pointers: Vec<Pointer>,
    /// It has flushed, or stored around the caches, any memory since then.
    pub(crate) flushed: bool,
    /// It has stored to an image since then.
    pub(crate) stored: bool,
    pub(crate) last_flush: Option<At>,
    pub(crate) last_fence: Option<At>,
}

impl Pending {
    pub(crate) fn note(&mut self, key: Key) {
        if self.lines.last() != Some(&key) {
            self.lines.push(key);
        }
    }
}

/// What orders stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orders {
    /// An atomic, which may be there for something else, a lock or a count: that a store was not flushed before it is nothing to tell,
    /// nor is a fence behind it.
    Atomic,
    /// A fence.
    Fence,
    /// A store fence where there are images, which is told if it has nothing to wait for.
    Told,
}

/// A store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub(crate) at: At,
    pub(crate) first: First,
    pub(crate) non_temporal: bool,
}
