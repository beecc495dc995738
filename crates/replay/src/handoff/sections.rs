//! Critical sections: what a thread does between the atomic that acquired a lock and what released it.

use std::collections::hash_map::Entry;

use prestore_trace::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::places::Write;
use super::watcher::Poll;

/// What the code sites of atomics are there for, learned from threads' atomics, one thread after the other.
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

impl LastSites {
    /// Where it executed atomics.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }
}

impl Roles {
    /// What was learned from other threads.
    pub(super) fn join(&mut self, others: Self) {
        self.first.extend(others.first);
        self.behind.extend(others.behind);
    }

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

    /// The sites that release: nobody begins with them, and whoever executed one may begin anew, or with another site that
    /// acquires: what comes behind a release. (Who tries again does not begin anew: it releases first.)
    pub(super) fn releases(&self) -> FxHashSet<SiteId> {
        let mut acquires = self.first.clone();
        let mut releases = FxHashSet::default();
        loop {
            let ends = self
                .behind
                .iter()
                .filter(|(before, behind)| !acquires.contains(before) && acquires.contains(behind));
            let ends: FxHashSet<SiteId> = ends.map(|(before, _)| *before).collect();
            let more = (self.behind.iter())
                .filter(|(before, behind)| ends.contains(before) && !ends.contains(behind));
            let known = (releases.len(), acquires.len());
            acquires.extend(more.map(|(_, behind)| *behind));
            releases = ends;
            if (releases.len(), acquires.len()) == known {
                return releases;
            }
        }
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
    /// The stretch of the last attempt, and when that began.
    pub(super) stretch: u64,
    pub(super) ticks: u64,
    /// Where that was made.
    pub(super) site: SiteId,
    /// Events before the first attempt since it was released, and where that was made.
    pub(super) since: u64,
    pub(super) began: SiteId,
    /// It has looked at the address, or near it, behind the last attempt: when it had it is not known.
    pub(super) looked: bool,
}

impl Attempt {
    /// Another attempt of the same thread, or its first: `write`, in a stretch that began at its `ticks`.
    /// `poll`: its look at the address, if it did nothing but wait since. `waited`: it did nothing but wait since the
    /// attempt before.
    pub(super) fn next(
        before: Option<Self>,
        write: Write,
        poll: Option<Poll>,
        waited: bool,
    ) -> Self {
        let from = poll.map_or(write.event, |poll| poll.last);
        let first = poll.map_or(write.event, |poll| poll.first);
        Self {
            thread: write.thread,
            first: before.filter(|_| waited).map_or(first, |b| b.first),
            from,
            last: write.event,
            stretch: write.stretch,
            ticks: write.ticks,
            site: write.site,
            since: before.map_or(first, |b| b.since),
            began: before.map_or(write.site, |b| b.began),
            looked: false,
        }
    }
}

/// A critical section of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) lock: u32,
    /// Where it was acquired: its class, see [`super::locks`].
    pub(super) site: SiteId,
    /// Events before the first attempt.
    pub(super) since: u64,
    /// Events of the thread before it began to wait, before it acquired and behind the release.
    pub(super) first: u64,
    pub(super) from: u64,
    pub(super) until: u64,
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
    fn writers_release_though_everybody_begins_as_a_reader() {
        const WRITE: SiteId = SiteId(5);
        const WRITTEN: SiteId = SiteId(6);
        let one = [LOCK, UNLOCK, WRITE, WRITTEN, WRITE, WRITTEN, LOCK];
        assert_eq!(releases(&[&one, &[LOCK, UNLOCK, LOCK]]), [UNLOCK, WRITTEN]);
    }

    #[test]
    fn counters_and_slots_are_not_released() {
        assert_eq!(releases(&[&[LOCK, LOCK, LOCK]]), []);
        // One takes what the other puts.
        assert_eq!(releases(&[&[LOCK, LOCK], &[UNLOCK, UNLOCK]]), []);
        assert_eq!(releases(&[&[LOCK, UNLOCK, LOCK], &[UNLOCK, LOCK]]), []);
    }
}
