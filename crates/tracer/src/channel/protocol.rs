//! The host's side of what it shares with the clients without locks: a thread's ring and the
//! session's doorbell. The client's side of the same steps is `client/ring.h`.
//!
//! Two rules carry the rest. What one side tells by a count (`produced`, `consumed`, `ended`) it
//! stores with release and the other loads with acquire. And whoever says "I sleep" looks once more
//! for what it waits for, with a full fence between; whoever gives work looks for sleepers behind a
//! full fence: at least one of the two sees the other. No step relies on a time limit for that.
//!
//! Generic over the word, so that `crates/ring-model` can run it in all interleavings.

use std::sync::atomic::Ordering;
use std::time::Duration;

/// A word that both sides change, and can sleep on.
pub(crate) trait Word {
    fn load(&self, order: Ordering) -> u32;
    fn store(&self, value: u32, order: Ordering);
    /// A sequentially consistent fence.
    fn fence();
    /// Sleeps until woken, `limit` at most; not at all where the word is not `seen`.
    fn wait(&self, seen: u32, limit: Duration);
    /// Wakes one sleeper.
    fn wake(&self);
}

/// The consuming end of a ring.
pub(crate) struct Consumer<'a, W> {
    pub(crate) produced: &'a W,
    pub(crate) consumed: &'a W,
    pub(crate) waiting: &'a W,
    pub(crate) ended: &'a W,
}

impl<W: Word> Consumer<'_, W> {
    /// The number of the oldest buffer not given back.
    pub(crate) fn oldest(&self) -> u32 {
        // Nobody else changes it.
        self.consumed.load(Ordering::Relaxed)
    }

    /// The number of the buffer that the producer fills; those before it may be read.
    pub(crate) fn filling(&self) -> u32 {
        self.produced.load(Ordering::Acquire)
    }

    /// How many filled buffers wait.
    pub(crate) fn pending(&self) -> u32 {
        self.filling().wrapping_sub(self.oldest())
    }

    /// Was the last buffer handed over? Asked before [`Consumer::pending`], so that it is seen there.
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) != 0
    }

    /// Gives the oldest buffer back, which must not be touched any more.
    pub(crate) fn give_back(&self) {
        self.consumed
            .store(self.oldest().wrapping_add(1), Ordering::Release);
        W::fence();
        if self.waiting.load(Ordering::Relaxed) != 0 {
            self.consumed.wake();
        }
    }
}

/// What all clients of a session ring when there is something new.
pub(crate) struct Doorbell<'a, W> {
    pub(crate) rung: &'a W,
    pub(crate) asleep: &'a W,
}

impl<W: Word> Doorbell<'_, W> {
    /// How often it was rung. What was told before is seen when looked for after this.
    pub(crate) fn heard(&self) -> u32 {
        self.rung.load(Ordering::Acquire)
    }

    /// Sleeps until it has been rung since it was `heard`, `limit` at most. In between, the caller
    /// has looked for work and found none.
    pub(crate) fn sleep(&self, heard: u32, limit: Duration) {
        self.asleep.store(1, Ordering::Relaxed);
        W::fence();
        if self.rung.load(Ordering::Relaxed) == heard {
            self.rung.wait(heard, limit);
        }
        self.asleep.store(0, Ordering::Relaxed);
    }
}
