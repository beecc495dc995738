//! Places of all threads that one moment of the run may have had: a consistent cut (K. M. Chandy, L. Lamport, *Distributed
//! Snapshots: Determining Global States of Distributed Systems*, ACM TOCS 3(1), 1985).
//!
//! Within a stored block time is taken as even, which threads that take turns are far from. Who then is past a wait, and who
//! published what it waited for is not there yet, would be apart farther than they ever were: the unit would find nearly all of
//! its waits over, and two threads run freely that really hold each other up.

use rustc_hash::FxHashMap;

use super::order::Published;

/// A core that waits, behind so many of its operations, for a hand-off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub core: usize,
    pub ops: u64,
    pub number: u32,
}

/// What a core that has done more than so many operations waited for: that another one has done so many.
type Needs = Vec<(u64, u64)>;

/// What the places of cores say of each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    /// By core: others, and what it needs of each, in the order of its own operations, the most so far.
    needs: Vec<Vec<(usize, Needs)>>,
}

impl Cuts {
    /// Of so many cores, with their `waits`, of each core in its order, and where each hand-off is published.
    pub fn new(cores: usize, waits: &[Wait], published: &FxHashMap<u32, Published>) -> Self {
        let mut needs: Vec<FxHashMap<usize, Needs>> = vec![FxHashMap::default(); cores];
        for wait in waits {
            let Some(&Published {
                core: other, ops, ..
            }) = published.get(&wait.number)
            else {
                continue;
            };
            if other == wait.core {
                continue;
            }
            let of_other = needs[wait.core].entry(other).or_default();
            // Nothing new where more was needed before.
            if of_other.last().is_none_or(|last| last.1 < ops) {
                of_other.push((wait.ops, ops));
            }
        }
        let sorted = |needs: FxHashMap<usize, Needs>| {
            let mut needs: Vec<_> = needs.into_iter().collect();
            needs.sort_unstable_by_key(|of| of.0);
            needs
        };
        Self {
            needs: needs.into_iter().map(sorted).collect(),
        }
    }

    /// Takes cores on until none is past a wait for what another one has not done.
    pub fn close(&self, at: &mut [u64]) {
        let mut open: Vec<usize> = (0..at.len()).collect();
        while let Some(core) = open.pop() {
            for (other, needs) in &self.needs[core] {
                let past = needs.partition_point(|need| need.0 < at[core]);
                let needed = past.checked_sub(1).map_or(0, |last| needs[last].1);
                if at[*other] < needed {
                    at[*other] = needed;
                    open.push(*other);
                }
            }
        }
    }

    /// Takes cores back until none is past a wait for what another one has not done: to before the wait.
    pub fn take_back(&self, at: &mut [u64]) {
        let mut is_open = true;
        while std::mem::take(&mut is_open) {
            for core in 0..at.len() {
                for (other, needs) in &self.needs[core] {
                    let had = needs.partition_point(|need| need.1 <= at[*other]);
                    if let Some(wait) = needs.get(had).filter(|need| need.0 < at[core]) {
                        at[core] = wait.0;
                        is_open = true;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(core: usize, ops: u64) -> Published {
        Published {
            core,
            thread: 0,
            events: ops,
            ops,
        }
    }

    /// Two cores with a ring of `slots`: what is put into one is taken from it 10 operations of either later, each takes
    /// 10 operations.
    fn ring(slots: u64, messages: u64) -> Cuts {
        let mut waits = Vec::new();
        let mut published = FxHashMap::default();
        for message in 0..messages {
            let (full, free) = (2 * message as u32, 2 * message as u32 + 1);
            published.insert(full, by(0, 10 * (message + 1)));
            published.insert(free, by(1, 10 * (message + 1)));
            if let Some(before) = message.checked_sub(slots) {
                waits.push(Wait {
                    core: 0,
                    ops: 10 * message,
                    number: 2 * before as u32 + 1,
                });
            }
            waits.push(Wait {
                core: 1,
                ops: 10 * message,
                number: full,
            });
        }
        Cuts::new(2, &waits, &published)
    }

    #[test]
    fn nobody_is_past_what_it_waits_for() {
        let cuts = ring(4, 1000);
        let close = |mut at: [u64; 2]| {
            cuts.close(&mut at);
            at
        };
        assert_eq!(close([0, 0]), [0, 0]);
        assert_eq!(close([40, 0]), [40, 0], "all slots are full");
        assert_eq!(
            close([1001, 0]),
            [1001, 970],
            "of 101 the first 97 are taken"
        );
        assert_eq!(close([0, 1001]), [1010, 1001], "of 101 all are there");
        assert_eq!(close([1000, 980]), [1000, 980], "as it is");
    }

    #[test]
    fn who_is_too_far_goes_back_to_its_wait() {
        let cuts = ring(4, 1000);
        let back = |mut at: [u64; 2]| {
            cuts.take_back(&mut at);
            at
        };
        assert_eq!(back([0, 4000]), [0, 0], "nothing is there");
        assert_eq!(back([1001, 0]), [40, 0], "all slots are full");
        assert_eq!(back([1000, 980]), [1000, 980], "as it is");
    }

    #[test]
    fn one_leads_to_the_next() {
        let waits = [(0, 5, 1), (1, 5, 2)].map(|(core, ops, number)| Wait { core, ops, number });
        let published = FxHashMap::from_iter([(1, by(1, 7)), (2, by(2, 9))]);
        let cuts = Cuts::new(3, &waits, &published);
        let mut at = [6, 0, 0];
        cuts.close(&mut at);
        assert_eq!(at, [6, 7, 9]);
    }
}
