//! Words that one thread stores to and another one waits at, without an atomic: flags, counters of a ring.
//!
//! Nothing tells which store a load saw. Where a thread comes to look as often as the other one stores, its k-th look is taken to have waited
//! for the k-th store: a ring's producer then never runs ahead of what it may. So threads might have been ordered, as far as the recording tells, but
//! it is not how a machine would time them, and the simulator does without.

use rustc_hash::FxHashMap;

use super::watcher::Poll;

/// Stores and visits that are remembered of an address at which only one thread was so far: a local variable in a loop, most likely.
const MOST_OF_ONE: usize = 1 << 10;
/// Of all addresses; beyond, no flags are known: 24 bytes each.
const MOST: usize = 1 << 22;

/// Stores to one address, and looks at it.
#[derive(Debug, Default)]
struct Flag {
    /// Who came first, and whether there is another.
    first: Option<usize>,
    several: bool,
    remembered: usize,
    /// Threads and events before each.
    stores: Vec<(usize, u64)>,
    /// Of each thread, each time it came.
    visits: FxHashMap<usize, Vec<Visit>>,
}

/// Looks of a thread between which it did nothing but wait, and stored to no flag: what it tells others is never part of a wait.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The first look of its poll, and its last.
    first: u64,
    last: u64,
    /// Stores of the thread to any flag before.
    stored: usize,
}

/// A look that waited for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) addr: u64,
    /// Who stored, and events up to and including the store.
    pub(super) by: usize,
    pub(super) published: u64,
    /// Who looked, and events before its last look.
    pub(super) to: usize,
    pub(super) looked: u64,
}

#[derive(Debug, Default)]
pub(super) struct Flags {
    at: FxHashMap<u64, Flag>,
    /// By thread, which of them it stored to, in order.
    stored: FxHashMap<usize, Vec<u64>>,
    remembered: usize,
}

impl Flags {
    /// At the addresses that some thread spins at.
    pub(super) fn new<'a>(spun: impl Iterator<Item = &'a u64>) -> Self {
        Self {
            at: spun.map(|a| (*a, Flag::default())).collect(),
            ..Self::default()
        }
    }

    /// `thread` looks at `addr`: its look of `poll`.
    pub(super) fn load(&mut self, addr: u64, thread: usize, poll: Option<Poll>) {
        let (Some(flag), Some(poll)) = (self.at.get(&addr), poll) else {
            return;
        };
        let stored = self.stored.get(&thread).map_or(&[][..], Vec::as_slice);
        let visit = Visit {
            first: poll.first,
            last: poll.last,
            stored: stored.len(),
        };
        let visits = flag.visits.get(&thread).map_or(&[][..], Vec::as_slice);
        // From the third of a poll on: how many there are of a long one is not to matter.
        let before = match visits {
            [.., one, two] if one.first == two.first => Some(two),
            _ => None,
        };
        let told_nobody = |before: &Visit| {
            let mut since = stored[before.stored..].iter();
            since.all(|addr| self.at.get(addr).is_none_or(|flag| !flag.several))
        };
        let goes_on = before.is_some_and(|b| b.first == poll.first && told_nobody(b));
        let Some(flag) = self.at.get_mut(&addr) else {
            return;
        };
        let visits = flag.visits.entry(thread).or_default();
        if let Some(before) = visits.last_mut().filter(|_| goes_on) {
            *before = visit;
            return;
        }
        visits.push(visit);
        self.remembers(addr, thread);
    }

    /// `thread` stores to `addr`, behind so many events.
    pub(super) fn store(&mut self, addr: u64, thread: usize, events: u64) {
        if let Some(flag) = self.at.get_mut(&addr) {
            flag.stores.push((thread, events));
            self.stored.entry(thread).or_default().push(addr);
            self.remembers(addr, thread);
        }
    }

    /// One more of `addr`, by `thread`.
    fn remembers(&mut self, addr: u64, thread: usize) {
        self.remembered += 1;
        if self.remembered > MOST {
            self.at.clear();
        }
        let Some(flag) = self.at.get_mut(&addr) else {
            return;
        };
        flag.several |= *flag.first.get_or_insert(thread) != thread;
        flag.remembered += 1;
        if !flag.several && flag.remembered > MOST_OF_ONE {
            self.remembered -= flag.remembered;
            self.at.remove(&addr);
        }
    }

    /// It has atomics.
    pub(super) fn atomic(&mut self, addr: u64) {
        self.at.remove(&addr);
    }

    /// Who waited for which store, by address.
    pub(super) fn told(self) -> Vec<Told> {
        let at = self.at;
        // A counter of its own tells nobody.
        let shared = |addr: &u64| at.get(addr).is_some_and(|flag| flag.several);
        let sums = |addrs: Vec<u64>| {
            let sum = addrs.iter().scan(0, |sum, addr| {
                *sum += usize::from(shared(addr));
                Some(*sum)
            });
            [0].into_iter().chain(sum).collect::<Vec<usize>>()
        };
        // By thread, of how many stores others may have been told.
        let told: FxHashMap<_, _> = (self.stored.into_iter())
            .map(|(thread, addrs)| (thread, sums(addrs)))
            .collect();
        let mut flags: Vec<_> = at.iter().collect();
        flags.sort_unstable_by_key(|(addr, _)| **addr);
        let mut all = Vec::new();
        for (&addr, flag) in flags {
            let Some((by, stores)) = flag.stores() else {
                continue;
            };
            for (&to, visits) in flag.visits.iter().filter(|(to, _)| **to != by) {
                let told = told.get(&to);
                let told = |v: &Visit| told.map_or(0, |sums| sums[v.stored]);
                let counted = [
                    last_of(visits, |v| (told(v), v.first)),
                    // What it does while it waits may look like work.
                    last_of(visits, |v| (told(v), 0)),
                ];
                let as_often = counted.into_iter().find(|v| v.len() == stores.len());
                let pairs = stores.iter().zip(as_often.into_iter().flatten());
                all.extend(pairs.map(|(&(_, before), looked)| Told {
                    addr,
                    by,
                    published: before + 1,
                    to,
                    looked,
                }));
            }
        }
        all
    }
}

/// The last look of each of the times that `which` tells apart.
fn last_of(visits: &[Visit], which: impl Fn(&Visit) -> (usize, u64)) -> Vec<u64> {
    let parts = visits.chunk_by(|a, b| which(a) == which(b));
    parts.filter_map(|part| Some(part.last()?.last)).collect()
}

impl Flag {
    /// The thread that tells the others, and its stores. Before it begins, another one may have made the word ready.
    fn stores(&self) -> Option<(usize, &[(usize, u64)])> {
        let by = self.stores.last()?.0;
        let first = self.stores.iter().rposition(|(thread, _)| *thread != by);
        let own = &self.stores[first.map_or(0, |at| at + 1)..];
        let before = &self.stores[..self.stores.len() - own.len()];
        let alone = before.iter().all(|(thread, _)| *thread != by);
        alone.then_some((by, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAG: u64 = 0x1000;

    fn flags() -> Flags {
        Flags::new([FLAG].iter())
    }

    fn look(flags: &mut Flags, thread: usize, first: u64, last: u64) {
        for last in [first, last] {
            flags.load(FLAG, thread, Some(Poll::at(FLAG, first, last)));
        }
    }

    #[test]
    fn each_time_waits_for_the_store_of_its_number() {
        let mut flags = flags();
        flags.store(FLAG, 2, 5);
        for at in [10, 20] {
            flags.store(FLAG, 0, at);
            look(&mut flags, 1, at + 2, at + 7);
        }
        let told = |published, looked| Told {
            addr: FLAG,
            by: 0,
            published,
            to: 1,
            looked,
        };
        assert_eq!(flags.told(), [told(11, 17), told(21, 27)]);
    }

    #[test]
    fn what_it_tells_in_between_ends_a_wait() {
        let mut flags = Flags::new([FLAG, FLAG + 64].iter());
        flags.store(FLAG + 64, 0, 4);
        for at in [10, 20] {
            flags.store(FLAG, 0, at);
            // The same poll, as to store what was stored before is no work.
            flags.load(FLAG, 1, Some(Poll::at(FLAG, 5, at + 2)));
            flags.store(FLAG + 64, 1, at + 3);
        }
        assert_eq!(flags.told().len(), 2);
    }

    #[test]
    fn what_looks_like_work_is_part_of_a_wait_between_two_stores() {
        let mut flags = Flags::new([FLAG, FLAG + 64].iter());
        look(&mut flags, 0, 4, 5);
        flags.load(FLAG + 64, 0, Some(Poll::at(FLAG + 64, 6, 7)));
        for at in [10, 20] {
            flags.store(FLAG, 0, at);
            look(&mut flags, 1, at + 1, at + 2);
            look(&mut flags, 1, at + 4, at + 5);
            flags.store(FLAG + 64, 1, at + 6);
        }
        let looked: Vec<_> = flags.told().iter().map(|told| told.looked).collect();
        assert_eq!(looked, [15, 25]);
    }

    #[test]
    fn what_one_thread_has_alone_is_forgotten() {
        let mut flags = flags();
        for at in 0..2 * MOST_OF_ONE as u64 {
            flags.store(FLAG, 0, at);
        }
        assert_eq!((flags.at.len(), flags.remembered), (0, 0));
    }

    #[test]
    fn other_numbers_tell_nothing() {
        let mut fewer = flags();
        for at in [10, 20] {
            fewer.store(FLAG, 0, at);
        }
        look(&mut fewer, 1, 12, 30);
        assert_eq!(fewer.told(), []);
        let mut both = flags();
        for (thread, at) in [(0, 10), (1, 20), (0, 30)] {
            both.store(FLAG, thread, at);
            look(&mut both, 2, at + 1, at + 2);
        }
        assert_eq!(both.told(), []);
        let mut atomic = flags();
        atomic.store(FLAG, 0, 10);
        look(&mut atomic, 1, 12, 30);
        atomic.atomic(FLAG);
        assert_eq!(atomic.told(), []);
    }
}
