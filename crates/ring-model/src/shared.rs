//! The shared files as loom sees them.

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::sync::{Condvar, Mutex};

use crate::protocol::{Consumer, Doorbell, Word};

/// A word with a futex. The kernel compares and falls asleep in one step, as seen by whoever wakes:
/// both hold the lock of the word's queue.
pub(crate) struct Futex {
    pub(crate) word: AtomicU32,
    queue: Mutex<()>,
    sleepers: Condvar,
}

impl Futex {
    fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            queue: Mutex::new(()),
            sleepers: Condvar::new(),
        }
    }
}

impl Word for Futex {
    fn load(&self, order: Ordering) -> u32 {
        self.word.load(order)
    }

    fn store(&self, value: u32, order: Ordering) {
        self.word.store(value, order);
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }

    /// Without the limit; see the crate's description.
    fn wait(&self, seen: u32, _limit: Duration) {
        let queue = self.queue.lock().unwrap();
        if self.word.load(Ordering::Relaxed) == seen {
            drop(self.sleepers.wait(queue).unwrap());
        }
    }

    fn wake(&self) {
        let _queue = self.queue.lock().unwrap();
        self.sleepers.notify_one();
    }
}

/// `wire_control_t`.
pub(crate) struct Control {
    pub(crate) doorbell: Futex,
    pub(crate) asleep: Futex,
}

impl Control {
    pub(crate) fn new() -> Self {
        Self {
            doorbell: Futex::new(),
            asleep: Futex::new(),
        }
    }

    /// The host's view.
    pub(crate) fn bell(&self) -> Doorbell<'_, Futex> {
        Doorbell {
            rung: &self.doorbell,
            asleep: &self.asleep,
        }
    }
}

/// A buffer and its length. Loom reports an access that another thread's may coincide with.
pub(crate) struct Slot {
    pub(crate) used: AtomicU32,
    /// One value stands for all words.
    pub(crate) words: UnsafeCell<u32>,
}

/// `wire_ring_t`.
pub(crate) struct Ring {
    pub(crate) produced: Futex,
    pub(crate) consumed: Futex,
    pub(crate) waiting: Futex,
    pub(crate) ended: Futex,
    pub(crate) slots: Vec<Slot>,
}

impl Ring {
    pub(crate) fn new(slots: usize) -> Self {
        let slot = || Slot {
            used: AtomicU32::new(0),
            words: UnsafeCell::new(0),
        };
        Self {
            produced: Futex::new(),
            consumed: Futex::new(),
            waiting: Futex::new(),
            ended: Futex::new(),
            slots: (0..slots).map(|_| slot()).collect(),
        }
    }

    /// Where buffer `number` is.
    pub(crate) fn slot(&self, number: u32) -> &Slot {
        &self.slots[number as usize % self.slots.len()]
    }

    /// The host's view.
    pub(crate) fn consumer(&self) -> Consumer<'_, Futex> {
        Consumer {
            produced: &self.produced,
            consumed: &self.consumed,
            waiting: &self.waiting,
            ended: &self.ended,
        }
    }
}
