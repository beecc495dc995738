//! Locks: critical sections exclude each other in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::Time;

/// One lock.
#[derive(Debug, Default)]
struct Lock {
    holder: Option<u32>,
    /// When its last release was visible.
    free: Time,
    /// Who wants it, and since when; of those that came at one time the lowest number has it first.
    waiters: BinaryHeap<Reverse<(Time, u32)>>,
}

/// All locks of a run. A lock that nobody has goes to who asks; one that is released to who waits longest.
#[derive(Debug, Default)]
pub struct Locks {
    locks: FxHashMap<u64, Lock>,
    /// Who waits for which.
    waiting: FxHashMap<u32, u64>,
    /// Locks that were taken although somebody had them.
    broken: u64,
}

impl Locks {
    /// `thread` wants `lock` at `at`. Answers since when it is free, and `thread` has it then; `None`: somebody
    /// else has it, and `thread` is parked until it asks again, when it was given it.
    pub fn acquire(&mut self, lock: u64, thread: u32, at: Time) -> Option<Time> {
        let found = self.locks.entry(lock).or_default();
        match found.holder {
            Some(other) if other != thread => {
                found.waiters.push(Reverse((at, thread)));
                self.waiting.insert(thread, lock);
                None
            }
            _ => {
                found.holder = Some(thread);
                Some(found.free)
            }
        }
    }

    /// What `thread` did with `lock` is visible at `at`. Answers who has it next. A thread that does not have
    /// it (its acquisition is not in the trace) releases nothing.
    pub fn release(&mut self, lock: u64, thread: u32, at: Time) -> Option<u32> {
        let found = self.locks.get_mut(&lock)?;
        if found.holder != Some(thread) {
            return None;
        }
        found.free = at;
        found.holder = found.waiters.pop().map(|Reverse((_, next))| next);
        if let Some(next) = found.holder {
            self.waiting.remove(&next);
        }
        found.holder
    }

    /// The locks that `thread`, which has ended, did not release.
    pub fn held_by(&self, thread: u32) -> Vec<u64> {
        let held = self.locks.iter().filter(|(_, l)| l.holder == Some(thread));
        let mut held: Vec<u64> = held.map(|(lock, _)| *lock).collect();
        held.sort_unstable();
        held
    }

    /// Nobody can go on: who waits longest for any lock is given it, whoever has it. Answers who.
    pub fn give_up(&mut self) -> Option<u32> {
        let waiting = self.waiting.values().filter_map(|lock| {
            let Reverse((since, thread)) = self.locks.get(lock)?.waiters.peek()?;
            Some((*since, *thread, *lock))
        });
        let (_, thread, lock) = waiting.min()?;
        let found = self.locks.get_mut(&lock)?;
        found.waiters.pop();
        found.holder = Some(thread);
        self.waiting.remove(&thread);
        self.broken += 1;
        Some(thread)
    }

    /// How often somebody was given a lock that another one had.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}
