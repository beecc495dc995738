//! Words of a lock that look like locks inside out: taken by who waits for the lock or releases it, released by who
//! acquires it.
//!
//! Readers' and writers' locks have a second word that tells sleepers to try again. Its "sections" and those of the lock
//! take turns and end within each other; threads come to the lock first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::infer::ONE_LOCK;
use super::locks::Locks;
use super::sections::Section;

/// A thread's sections of one lock, first and last event, and where it came to it first.
#[derive(Default)]
struct Spans {
    first: u64,
    spans: Vec<(u64, u64)>,
}

/// One of two locks, seen beside the other.
#[derive(Default)]
struct Beside {
    sections: u64,
    end_within: u64,
    /// Threads that came to it later, and earlier.
    later: u64,
    earlier: u64,
}

/// Those of the locks that have `sections`, of all threads.
pub(super) fn inside_out(locks: &Locks, sections: &[Vec<Section>]) -> FxHashSet<u32> {
    let neighbours = neighbours(locks);
    let of_interest: FxHashSet<u32> = neighbours.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut all: FxHashMap<(u32, u32), Beside> = FxHashMap::default();
    for thread in sections {
        let mut by_lock: FxHashMap<u32, Spans> = FxHashMap::default();
        for s in thread.iter().filter(|s| of_interest.contains(&s.lock)) {
            let spans = by_lock.entry(s.lock).or_insert_with(|| Spans {
                first: s.since,
                spans: Vec::new(),
            });
            spans.spans.push((s.from, s.until));
        }
        for &(a, b) in &neighbours {
            for (this, other) in [(a, b), (b, a)] {
                let (Some(these), Some(others)) = (by_lock.get(&this), by_lock.get(&other)) else {
                    continue;
                };
                let beside = all.entry((this, other)).or_default();
                beside.sections += these.spans.len() as u64;
                let within = these
                    .spans
                    .iter()
                    .filter(|s| ends_within(**s, &others.spans));
                beside.end_within += within.count() as u64;
                beside.later += u64::from(these.first > others.first);
                beside.earlier += u64::from(these.first < others.first);
            }
        }
    }
    let inside_out = all.into_iter().filter(|(_, beside)| {
        beside.end_within * 2 > beside.sections && beside.later > beside.earlier
    });
    inside_out.map(|((this, _), _)| this).collect()
}

/// Does it end within one of `others`, which are in order, and begin before that?
fn ends_within((from, until): (u64, u64), others: &[(u64, u64)]) -> bool {
    let next = others.partition_point(|o| o.0 < until);
    let last = next.checked_sub(1).map(|at| others[at]);
    last.is_some_and(|o| from < o.0 && until <= o.1)
}

/// Pairs of locks that may be words of one.
fn neighbours(locks: &Locks) -> Vec<(u32, u32)> {
    let mut by_address: Vec<_> = locks.all().collect();
    by_address.sort_unstable_by_key(|(lock, addr)| (*addr, *lock));
    let mut pairs = Vec::new();
    for (i, &(lock, addr)) in by_address.iter().enumerate() {
        let behind = by_address[i + 1..].iter();
        let near = behind.take_while(|(_, other)| other - addr < ONE_LOCK);
        pairs.extend(near.map(|&(other, _)| (lock, other)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use prestore_trace::SiteId;

    fn section(lock: u32, from: u64, until: u64) -> Section {
        Section {
            lock,
            site: SiteId(1),
            since: from,
            first: from,
            from,
            until,
        }
    }

    #[test]
    fn what_is_taken_by_the_release_and_released_by_the_acquisition_is_no_lock() {
        let mut locks = Locks::default();
        for addr in [0x1000, 0x100c, 0x2000] {
            locks.add(addr, 9);
        }
        let round = |at: u64| [section(0, at, at + 50), section(1, at + 49, at + 102)];
        let thread: Vec<_> = [0, 100, 200].into_iter().flat_map(round).collect();
        assert_eq!(
            inside_out(&locks, std::slice::from_ref(&thread)),
            [1].into_iter().collect()
        );
        // One inside the other, or one behind the other, they are locks; and far apart they are.
        let nested = [
            section(0, 0, 50),
            section(1, 10, 20),
            section(0, 60, 90),
            section(1, 92, 95),
        ];
        assert!(inside_out(&locks, &[nested.to_vec()]).is_empty());
        let far = thread.into_iter().map(|s| Section {
            lock: s.lock * 2,
            ..s
        });
        assert!(inside_out(&locks, &[far.collect()]).is_empty());
    }
}
