//! Critical sections: what a thread does between the atomic that acquired a lock and what released it.

use std::collections::hash_map::Entry;

use prestore_trace::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::watcher::Poll;

/// One section in this many may seem to overlap another thread's: a thread can be held up between the stamp
/// of a block and the atomic in it.
const MOST_OVERLAPS: u64 = 16;

/// What the code sites of atomics are there for, learned from all threads' atomics one thread after the other.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// Sites of the first atomic of some thread at some address.
    first: FxHashSet<SiteId>,
    /// Sites of which one thread executed the second behind the first, at one address.
    behind: FxHashSet<(SiteId, SiteId)>,
}

/// One thread's last atomic at each address.
#[derive(Debug, Default)]
pub(super) struct LastSites(FxHashMap<u64, SiteId>);

impl Roles {
    /// The thread of `last` executes an atomic.
    pub(super) fn atomic(&mut self, last: &mut LastSites, addr: u64, site: SiteId) {
        match last.0.entry(addr) {
            Entry::Occupied(mut before) => {
                let before = before.insert(site);
                self.behind.insert((before, site));
            }
            Entry::Vacant(none) => {
                none.insert(site);
                self.first.insert(site);
            }
        }
    }

    /// The sites that release: nobody begins with them, and whoever executed one may begin anew. (Who tries
    /// again does not begin anew: it releases first.)
    pub(super) fn releases(&self) -> FxHashSet<SiteId> {
        let ends = self
            .behind
            .iter()
            .filter(|(before, behind)| !self.first.contains(before) && self.first.contains(behind));
        ends.map(|(before, _)| *before).collect()
    }
}

/// A thread's attempts to acquire an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) thread: u32,
    /// Events of the thread before the first of what it did but wait.
    pub(super) first: u64,
    /// Events before the last attempt, or before the look at the address in front of it.
    pub(super) from: u64,
    /// Events before the last attempt.
    pub(super) last: u64,
    /// When the stretch of the last attempt began.
    pub(super) ticks: u64,
}

impl Attempt {
    /// Another attempt of the same thread, or its first: at `event`, in a stretch that began at `ticks`.
    /// `poll`: its look at the address, if it did nothing but wait since. `waited`: it did nothing but wait since the
    /// attempt before.
    pub(super) fn next(
        before: Option<Self>,
        (thread, event, ticks): (u32, u64, u64),
        poll: Option<Poll>,
        waited: bool,
    ) -> Self {
        let from = poll.map_or(event, |poll| poll.last);
        let first = poll.map_or(event, |poll| poll.first);
        Self {
            thread,
            first: before.filter(|_| waited).map_or(first, |b| b.first),
            from,
            last: event,
            ticks,
        }
    }
}

/// A critical section of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) lock: u32,
    /// Events of the thread before it began to wait, before it acquired and behind the release.
    pub(super) first: u64,
    pub(super) from: u64,
    pub(super) until: u64,
}

/// What is known of an address whose sections were seen.
#[derive(Clone, Debug, Default)]
struct Lock {
    sections: u64,
    overlaps: u64,
    several: bool,
    /// Thread, and begin and end, of the last section, and of the last of another thread.
    recent: [Option<(u32, u64, u64)>; 2],
}

/// All addresses that may be locks.
#[derive(Debug, Default)]
pub(super) struct Locks(Vec<Lock>);

impl Locks {
    /// One more; its number, if there are not too many.
    pub(super) fn add(&mut self, most: u32) -> Option<u32> {
        let number = u32::try_from(self.0.len()).ok().filter(|n| *n < most)?;
        self.0.push(Lock::default());
        Some(number)
    }

    /// `thread` had `lock` from `begin` to `end`, or thereabouts.
    pub(super) fn section(&mut self, lock: u32, thread: u32, begin: u64, end: u64) {
        let Some(lock) = self.0.get_mut(lock as usize) else {
            return;
        };
        lock.sections += 1;
        let other = lock.recent.iter().flatten().find(|(by, ..)| *by != thread);
        if let Some(&(_, other_begin, other_end)) = other {
            lock.several = true;
            lock.overlaps += u64::from(other_end > begin && end > other_begin);
        }
        if lock.recent[0].is_some_and(|(by, ..)| by != thread) {
            lock.recent[1] = lock.recent[0];
        }
        lock.recent[0] = Some((thread, begin, end));
    }

    /// Did sections of several threads exclude each other?
    pub(super) fn excludes(&self, lock: u32) -> bool {
        self.0
            .get(lock as usize)
            .is_some_and(|lock| lock.several && lock.overlaps * MOST_OVERLAPS <= lock.sections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: SiteId = SiteId(1);
    const LOCK_SLOWLY: SiteId = SiteId(2);
    const UNLOCK: SiteId = SiteId(3);
    const LOCK_BEHIND_A_WAIT: SiteId = SiteId(4);

    fn releases(threads: &[&[SiteId]]) -> Vec<SiteId> {
        let mut roles = Roles::default();
        for thread in threads {
            let mut last = LastSites::default();
            for &site in *thread {
                roles.atomic(&mut last, 0x1000, site);
            }
        }
        let mut sites: Vec<_> = roles.releases().into_iter().collect();
        sites.sort_unstable();
        sites
    }

    #[test]
    fn a_mutex_is_released_by_the_site_behind_which_it_is_locked_anew() {
        assert_eq!(releases(&[&[LOCK, UNLOCK, LOCK, UNLOCK]]), [UNLOCK]);
        let contended = [LOCK, LOCK_SLOWLY, LOCK_SLOWLY, UNLOCK, LOCK, UNLOCK];
        assert_eq!(releases(&[&contended, &[LOCK]]), [UNLOCK]);
        let condition = [LOCK, UNLOCK, LOCK_BEHIND_A_WAIT, UNLOCK, LOCK];
        assert_eq!(releases(&[&condition]), [UNLOCK]);
    }

    #[test]
    fn counters_and_slots_are_not_released() {
        assert_eq!(releases(&[&[LOCK, LOCK, LOCK]]), []);
        // One takes what the other puts.
        assert_eq!(releases(&[&[LOCK, LOCK], &[UNLOCK, UNLOCK]]), []);
        assert_eq!(releases(&[&[LOCK, UNLOCK, LOCK], &[UNLOCK, LOCK]]), []);
    }

    #[test]
    fn sections_that_overlap_are_no_locks() {
        let mut locks = Locks::default();
        let lock = locks.add(1).unwrap_or_default();
        assert_eq!(locks.add(1), None);
        locks.section(lock, 0, 10, 20);
        assert!(!locks.excludes(lock), "one thread");
        locks.section(lock, 1, 20, 30);
        assert!(locks.excludes(lock));
        locks.section(lock, 0, 25, 40);
        assert!(!locks.excludes(lock));
    }
}
