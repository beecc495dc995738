//! Hand-offs between threads: who waits for which, and how long a message takes.

use rustc_hash::FxHashMap;

use crate::{Op, Time};

/// What becomes visible to other threads, and is not yet.
#[derive(Clone, Copy, Debug)]
pub enum Pledge {
    /// A hand-off.
    HandOff {
        /// Its number.
        number: u64,
        /// As in [`Published`].
        begun: Time,
        /// As in [`Published`].
        message: bool,
    },
    /// The release of this lock.
    Release(u64),
    /// What is handed over to helper threads.
    Helpers(Op),
}

/// A hand-off that was published.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// When it is visible to the other threads.
    pub visible: Time,
    /// When the producer began what it hands over (docs/metrics.md, `handoffs`).
    pub begun: Time,
    /// The producer had a source region open: it marks the whole message.
    pub message: bool,
}

/// Published and awaited hand-offs. Each is published once and awaited once, and forgotten then.
#[derive(Debug, Default)]
pub struct HandOffs {
    published: FxHashMap<u64, Published>,
    /// Who waits for what is not published yet.
    parked: FxHashMap<u64, u32>,
}

impl HandOffs {
    /// Hand-off `number` is published; answers the thread that was parked for it.
    pub fn publish(&mut self, number: u64, what: Published) -> Option<u32> {
        self.published.insert(number, what);
        self.parked.remove(&number)
    }

    /// `thread` needs `number`: answers it, or parks the thread, which asks again when it is woken.
    pub fn await_by(&mut self, number: u64, thread: u32) -> Option<Published> {
        let found = self.published.remove(&number);
        if found.is_none() {
            self.parked.insert(number, thread);
        }
        found
    }

    /// The threads that are parked, each with the hand-off it waits for, in order of thread.
    pub fn stuck(&self) -> Vec<(u32, u64)> {
        let parked = self.parked.iter();
        let mut stuck: Vec<_> = parked.map(|(number, thread)| (*thread, *number)).collect();
        stuck.sort_unstable();
        stuck
    }
}
