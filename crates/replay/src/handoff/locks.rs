//! Which addresses are locks, and who shares them: sections that may overlap, and sections that never do.
//!
//! Sections of one address fall into classes, by the code site that acquired it. What a mutex excludes never
//! overlaps. Of readers and writers, readers overlap each other and writers nobody. What overlaps with all is no lock.

use prestore_trace::SiteId;

/// One section in this many may seem to overlap another thread's: where there is no stamp behind the atomic that acquired,
/// the thread can have been held up between the stamp of its block and the atomic.
const MOST_OVERLAPS: u64 = 16;

/// Of so many sections of a lock, one of a class may whatever the class's number: the thread was held up long.
const ENOUGH: u64 = 8;

/// Classes of one lock that are told apart.
const MOST_CLASSES: usize = 8;

/// Threads of one lock whose last sections are remembered.
const MOST_RECENT: usize = 16;

/// One section, of a class, in recorded time.
#[derive(Clone, Copy, Debug)]
struct Recent {
    thread: u32,
    class: usize,
    begin: u64,
    end: u64,
}

/// What is known of an address whose sections were seen.
#[derive(Clone, Debug)]
struct Lock {
    addr: u64,
    several: bool,
    classes: Vec<Class>,
    recent: Vec<Recent>,
}

/// Sections that one site acquired.
#[derive(Clone, Debug)]
struct Class {
    site: SiteId,
    sections: u64,
    /// Those that overlapped one of each class.
    overlaps: [u64; MOST_CLASSES],
}

/// How a class has its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Having {
    /// Nobody else has it.
    Alone,
    /// Others of its class and of classes like it have it as well.
    Shared,
}

/// All addresses that may be locks.
#[derive(Debug, Default)]
pub(super) struct Locks(Vec<Lock>);

impl Lock {
    fn class(&mut self, site: SiteId) -> Option<usize> {
        let known = self.classes.iter().position(|c| c.site == site);
        known.or_else(|| {
            let room = self.classes.len() < MOST_CLASSES;
            room.then(|| {
                self.classes.push(Class {
                    site,
                    sections: 0,
                    overlaps: [0; MOST_CLASSES],
                });
                self.classes.len() - 1
            })
        })
    }

    /// Do sections of two classes overlap more often than stamps explain?
    fn overlap(&self, a: usize, b: usize) -> bool {
        let all: u64 = self.classes.iter().map(|c| c.sections).sum();
        let allowed = |of: &Class| (of.sections / MOST_OVERLAPS).max(u64::from(all >= ENOUGH));
        let often = |of: &Class, with: usize| of.overlaps[with] > allowed(of);
        often(&self.classes[a], b) || often(&self.classes[b], a)
    }
}

impl Locks {
    /// One more, at `addr`; its number, if there are not too many.
    pub(super) fn add(&mut self, addr: u64, most: u32) -> Option<u32> {
        let number = u32::try_from(self.0.len()).ok().filter(|n| *n < most)?;
        self.0.push(Lock {
            addr,
            several: false,
            classes: Vec::new(),
            recent: Vec::new(),
        });
        Some(number)
    }

    /// Where it is.
    pub(super) fn addr(&self, lock: u32) -> Option<u64> {
        self.0.get(lock as usize).map(|l| l.addr)
    }

    /// All, with their addresses.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(self.0.iter().map(|l| l.addr))
    }

    /// `thread` had `lock`, which it acquired at `site`, from `begin` to `end`, or thereabouts. `begin` is not known of
    /// one that waited without an atomic.
    pub(super) fn section(
        &mut self,
        lock: u32,
        thread: u32,
        site: SiteId,
        begin: Option<u64>,
        end: u64,
    ) {
        let Some(lock) = self.0.get_mut(lock as usize) else {
            return;
        };
        let Some(class) = lock.class(site) else {
            return;
        };
        let begin = begin.unwrap_or(end);
        lock.classes[class].sections += 1;
        let mut with = [false; MOST_CLASSES];
        for other in lock.recent.iter().filter(|r| r.thread != thread) {
            lock.several = true;
            with[other.class] |= other.end > begin && end > other.begin;
        }
        for (times, overlaps) in lock.classes[class].overlaps.iter_mut().zip(with) {
            *times += u64::from(overlaps);
        }
        let section = Recent {
            thread,
            class,
            begin,
            end,
        };
        lock.recent.retain(|r| r.thread != thread);
        if lock.recent.len() == MOST_RECENT {
            lock.recent.remove(0);
        }
        lock.recent.push(section);
    }

    /// How sections of `lock` that were acquired at `site` have it; `None`: it is no lock.
    pub(super) fn having(&self, lock: u32, site: SiteId) -> Option<Having> {
        let lock = self.0.get(lock as usize).filter(|lock| lock.several)?;
        let alone = |class: usize| (0..lock.classes.len()).all(|other| !lock.overlap(class, other));
        let class = lock.classes.iter().position(|c| c.site == site)?;
        if alone(class) {
            return Some(Having::Alone);
        }
        // It is shared if there is anybody that it is kept from.
        let somebody = (0..lock.classes.len()).any(alone);
        somebody.then_some(Having::Shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: SiteId = SiteId(1);
    const OTHER: SiteId = SiteId(2);

    fn had(locks: &mut Locks, thread: u32, site: SiteId, begin: u64, end: u64) {
        locks.section(0, thread, site, Some(begin), end);
    }

    #[test]
    fn sections_that_overlap_are_no_locks() {
        let mut locks = Locks::default();
        assert_eq!(locks.add(0x1000, 1), Some(0));
        assert_eq!(locks.add(0x1000, 1), None);
        had(&mut locks, 0, ONE, 10, 20);
        assert_eq!(locks.having(0, ONE), None, "one thread");
        had(&mut locks, 1, ONE, 20, 30);
        assert_eq!(locks.having(0, ONE), Some(Having::Alone));
        had(&mut locks, 0, ONE, 25, 40);
        assert_eq!(locks.having(0, ONE), None);
    }

    #[test]
    fn a_thread_may_be_held_up_once() {
        let mut locks = Locks::default();
        locks.add(0x1000, 1);
        for at in 0..10 {
            had(&mut locks, at as u32 % 2, ONE, 10 * at, 10 * at + 9);
        }
        had(&mut locks, 0, ONE, 95, 120);
        assert_eq!(locks.having(0, ONE), Some(Having::Alone));
        had(&mut locks, 1, ONE, 115, 130);
        assert_eq!(locks.having(0, ONE), None);
    }

    #[test]
    fn readers_overlap_and_writers_do_not() {
        let mut locks = Locks::default();
        locks.add(0x1000, 1);
        for round in 0..4 {
            let at = 100 * round;
            had(&mut locks, 0, ONE, at + 1, at + 20);
            had(&mut locks, 1, ONE, at + 5, at + 30);
            had(&mut locks, 0, OTHER, at + 40, at + 50);
            had(&mut locks, 2, OTHER, at + 50, at + 60);
        }
        assert_eq!(locks.having(0, ONE), Some(Having::Shared));
        assert_eq!(locks.having(0, OTHER), Some(Having::Alone));
        // Of one that waited it is not known since when it had the lock.
        locks.section(0, 3, OTHER, None, 345);
        assert_eq!(locks.having(0, OTHER), Some(Having::Alone));
    }
}
