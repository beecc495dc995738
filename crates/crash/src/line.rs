//! One line of persistent memory: which of its bytes wait for what.

use prestore_trace::ThreadId;

use crate::finding::{At, First};

/// Bytes of a line of x86.
pub(crate) const LINE: u64 = 64;

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
    pub(crate) state: State,
    /// The thread's first fence behind it.
    pub(crate) fence: Option<At>,
}

/// How far a write is on its way.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// In the caches.
    Dirty {
        /// The flush by the same thread, not fenced yet, that has flushed what was there before.
        over: Option<At>,
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

/// A line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) writes: Vec<Write>,
    pub(crate) last_flush: Option<At>,
}

/// What a flush met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// Something to flush; the thread has to fence.
    Work,
    /// Nothing, and nothing that another thread has still to fence.
    Nothing,
}

impl Line {
    /// `new` is stored; what was there at its bytes is gone. `ordered`: a store between a flush of
    /// its bytes and the fence is to be told.
    pub(crate) fn store(&mut self, mut new: Write, ordered: bool) {
        let mut over = None;
        for old in &mut self.writes {
            if old.bytes & new.bytes == 0 {
                continue;
            }
            over = over.or(match &old.state {
                State::Flushed { flush, .. } if old.state.is_flushed_by(new.first.thread) => {
                    Some(*flush)
                }
                State::Dirty { over, told: false } if old.first.thread == new.first.thread => *over,
                _ => None,
            });
            old.bytes &= !new.bytes;
        }
        self.writes.retain(|w| w.bytes != 0);
        if let State::Dirty { over: behind, .. } = &mut new.state {
            *behind = over.filter(|_| ordered);
        }
        match self.writes.last_mut() {
            Some(last) if last.goes_on_with(&new) => {
                last.bytes |= new.bytes;
                last.stores += new.stores;
            }
            _ => self.writes.push(new),
        }
    }

    /// `thread` flushes the line at `at`; `alone`: no fence is needed for that.
    pub(crate) fn flush(&mut self, thread: ThreadId, at: At, alone: bool) -> Met {
        let mut met = Met::Nothing;
        for write in &mut self.writes {
            match &mut write.state {
                State::Dirty { .. } => {
                    let (flush, by) = (at, vec![thread]);
                    write.state = State::Flushed { flush, by };
                    met = Met::Work;
                }
                State::Flushed { by, .. } if !by.contains(&thread) => {
                    by.push(thread);
                    met = Met::Work;
                }
                State::Flushed { .. } => {}
            }
        }
        self.last_flush = Some(at);
        if alone {
            self.writes.clear();
        }
        met
    }

    /// `thread` fences at `at`: what it flushed is persistent. `late` gets the writes that came between
    /// its flush and this, with the flush.
    pub(crate) fn fence(&mut self, thread: ThreadId, at: At, mut late: impl FnMut(&Write, At)) {
        self.writes.retain(|w| !w.state.is_flushed_by(thread));
        for write in self.writes.iter_mut().filter(|w| w.first.thread == thread) {
            write.fence.get_or_insert(at);
            if let State::Dirty { over, told } = &mut write.state
                && let Some(flush) = over.take()
            {
                *told = true;
                late(write, flush);
            }
        }
    }
}

impl Write {
    /// Is `next` more of the same?
    fn goes_on_with(&self, next: &Self) -> bool {
        let same_state = match (&self.state, &next.state) {
            (
                State::Dirty { over, told: false },
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

/// The bits of the bytes `from` to `from + size` of a line.
pub(crate) fn mask(from: u64, size: u64) -> u64 {
    let ones = match size {
        LINE.. => u64::MAX,
        size => (1 << size) - 1,
    };
    ones << from
}
