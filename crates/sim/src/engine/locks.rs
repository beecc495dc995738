//! Locks: critical sections exclude each other in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::{SHARED_LOCK, Time};

/// Who wants a lock: since when, its number, and whether it shares it with others that do. Of those that came at
/// one time the lowest number has it first.
type Waiter = Reverse<(Time, u32, bool)>;

/// One lock.
#[derive(Debug, Default)]
struct Lock {
    /// One, or all that share it; a thread once for each time.
    holders: Vec<u32>,
    shared: bool,
    /// When the last release was visible of who had it alone, and of anybody.
    free_to_share: Time,
    free: Time,
    waiters: BinaryHeap<Waiter>,
}

impl Lock {
    fn give(&mut self, thread: u32, shared: bool) {
        self.holders.push(thread);
        self.shared = shared;
    }
}

/// All locks of a run. A lock that nobody has goes to who asks, one that is shared to who shares it; one that is
/// released to who waits longest, and if that one shares it to all that would.
#[derive(Debug, Default)]
pub struct Locks {
    locks: FxHashMap<u64, Lock>,
    /// Who waits for which, and who was given which and has not asked again.
    waiting: FxHashMap<u32, u64>,
    given: FxHashMap<u32, u64>,
    /// Locks that were taken although somebody had them.
    broken: u64,
}

impl Locks {
    /// `thread` wants `lock` (with [`SHARED_LOCK`]: beside others that share it) at `at`. Answers since when it may
    /// have it, and `thread` has it then; `None`: somebody else has it, or what `thread` itself did to release it is
    /// not visible yet, and `thread` is parked until it asks again, when it was given it.
    pub fn acquire(&mut self, lock: u64, thread: u32, at: Time) -> Option<Time> {
        let shared = lock & SHARED_LOCK != 0;
        let lock = lock & !SHARED_LOCK;
        let found = self.locks.entry(lock).or_default();
        let given = self.given.get(&thread) == Some(&lock);
        if given {
            self.given.remove(&thread);
        } else if found.holders.is_empty() || (found.shared && shared) {
            found.give(thread, shared);
        } else {
            found.waiters.push(Reverse((at, thread, shared)));
            self.waiting.insert(thread, lock);
            return None;
        }
        Some(if shared {
            found.free_to_share
        } else {
            found.free
        })
    }
    /// What `thread` did with `lock` is visible at `at`. Answers who has it next. A thread that does not have
    /// it (its acquisition is not in the trace) releases nothing.
    pub fn release(&mut self, lock: u64, thread: u32, at: Time) -> Vec<u32> {
        let mut next = Vec::new();
        let Some(found) = self.locks.get_mut(&(lock & !SHARED_LOCK)) else {
            return next;
        };
        let Some(its) = found.holders.iter().position(|&t| t == thread) else {
            return next;
        };
        found.holders.swap_remove(its);
        found.free = found.free.max(at);
        if !found.shared {
            found.free_to_share = found.free;
        }
        if !found.holders.is_empty() {
            return next;
        }
        while let Some(&Reverse((_, waiter, shared))) = found.waiters.peek()
            && (found.holders.is_empty() || (found.shared && shared))
        {
            found.waiters.pop();
            found.give(waiter, shared);
            self.waiting.remove(&waiter);
            self.given.insert(waiter, lock & !SHARED_LOCK);
            next.push(waiter);
        }
        next
    }

    /// The locks that `thread`, which has ended, did not release.
    pub fn held_by(&self, thread: u32) -> Vec<u64> {
        let held = self
            .locks
            .iter()
            .filter(|(_, l)| l.holders.contains(&thread));
        let mut held: Vec<u64> = held.map(|(lock, _)| *lock).collect();
        held.sort_unstable();
        held
    }

    /// Nobody can go on: who waits longest for any lock is given it, whoever has it. Answers who.
    pub fn give_up(&mut self) -> Option<u32> {
        let waiting = self.waiting.values().filter_map(|lock| {
            let Reverse((since, thread, shared)) = self.locks.get(lock)?.waiters.peek()?;
            Some((*since, *thread, *shared, *lock))
        });
        let (_, thread, shared, lock) = waiting.min()?;
        let found = self.locks.get_mut(&lock)?;
        found.waiters.pop();
        found.holders.clear();
        found.give(thread, shared);
        self.waiting.remove(&thread);
        self.given.insert(thread, lock);
        self.broken += 1;
        Some(thread)
    }

    /// How often somebody was given a lock that another one had.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: u64 = 7;
    const SHARED: u64 = LOCK | SHARED_LOCK;
    const NOBODY: [u32; 0] = [];

    #[test]
    fn who_waits_longest_is_next() {
        let mut locks = Locks::default();
        assert_eq!(locks.acquire(LOCK, 0, Time(5)), Some(Time::ZERO));
        assert_eq!(locks.acquire(LOCK, 1, Time(8)), None);
        assert_eq!(locks.acquire(LOCK, 2, Time(7)), None);
        assert_eq!(locks.release(LOCK, 1, Time(9)), NOBODY, "not its own");
        assert_eq!(locks.release(LOCK, 0, Time(10)), [2]);
        assert_eq!(locks.acquire(LOCK, 2, Time(7)), Some(Time(10)));
        assert_eq!(locks.release(LOCK, 2, Time(20)), [1]);
        assert_eq!(locks.acquire(LOCK, 1, Time(8)), Some(Time(20)));
        assert_eq!(locks.release(LOCK, 1, Time(30)), NOBODY);
        assert_eq!(locks.acquire(LOCK, 0, Time(25)), Some(Time(30)));
    }

    /// A thread comes back before its release is visible: others that wait were first.
    #[test]
    fn who_comes_back_at_once_waits_as_well() {
        let mut locks = Locks::default();
        locks.acquire(LOCK, 0, Time(1));
        assert_eq!(locks.acquire(LOCK, 1, Time(2)), None);
        assert_eq!(locks.acquire(LOCK, 0, Time(3)), None);
        assert_eq!(locks.release(LOCK, 0, Time(10)), [1]);
        assert_eq!(locks.release(LOCK, 1, Time(20)), [0]);
    }

    #[test]
    fn who_shares_has_it_together() {
        let mut locks = Locks::default();
        locks.acquire(SHARED, 0, Time(1));
        assert_eq!(locks.acquire(SHARED, 1, Time(2)), Some(Time::ZERO));
        assert_eq!(locks.acquire(LOCK, 2, Time(3)), None);
        assert_eq!(locks.release(LOCK, 0, Time(10)), NOBODY);
        assert_eq!(locks.release(LOCK, 1, Time(8)), [2]);
        assert_eq!(locks.acquire(LOCK, 2, Time(3)), Some(Time(10)));
        assert_eq!(locks.acquire(SHARED, 0, Time(11)), None);
        assert_eq!(locks.acquire(SHARED, 1, Time(12)), None);
        assert_eq!(locks.acquire(LOCK, 3, Time(13)), None);
        assert_eq!(locks.release(LOCK, 2, Time(20)), [0, 1]);
        assert_eq!(locks.acquire(SHARED, 4, Time(14)), Some(Time(20)));
    }

    #[test]
    fn a_circle_is_broken_by_who_waits_longest() {
        let mut locks = Locks::default();
        locks.acquire(1, 0, Time(1));
        locks.acquire(2, 1, Time(1));
        assert_eq!(locks.acquire(2, 0, Time(4)), None);
        assert_eq!(locks.acquire(1, 1, Time(3)), None);
        assert_eq!(locks.give_up(), Some(1));
        assert_eq!(locks.broken(), 1);
        assert_eq!(locks.release(1, 0, Time(9)), NOBODY);
        assert_eq!(locks.release(2, 1, Time(9)), [0]);
    }
}
