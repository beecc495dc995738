//! A queue of limited length, as the times at which its entries become free.

use crate::Time;
use crate::random::Random;

/// The entries of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    free: Box<[Time]>,
    next: usize,
}

impl Slots {
    /// `entries` free ones, at least one.
    pub(crate) fn new(entries: u32) -> Self {
        Self {
            free: vec![Time::ZERO; entries.max(1) as usize].into(),
            next: 0,
        }
    }

    /// When what comes at `at` gets an entry.
    #[inline]
    pub(crate) fn wait(&mut self, at: Time) -> Time {
        if self.free[self.next] > at {
            self.find_earliest();
        }
        at.max(self.free[self.next])
    }

    /// The same, where those who wait get entries in no particular order: any of those that become free
    /// by three times the wait for the first.
    pub(crate) fn wait_unordered(&mut self, at: Time, random: &mut Random) -> Time {
        let first = self.wait(at);
        if first == at {
            return at;
        }
        let last = first + Time(2 * first.since(at).0);
        let soon = self.free.iter().filter(|free| **free <= last);
        let mut skip = random.below(soon.count() as u64);
        for i in 0..self.free.len() {
            if self.free[i] > last {
                continue;
            }
            if skip == 0 {
                self.free.swap(self.next, i);
                break;
            }
            skip -= 1;
        }
        at.max(self.free[self.next])
    }

    /// The entry that was found by waiting is taken until `until`.
    #[inline]
    pub(crate) fn take(&mut self, until: Time) {
        self.free[self.next] = until;
        self.next += 1;
        if self.next == self.free.len() {
            self.next = 0;
        }
    }

    /// Entries are mostly freed in the order they were taken; where not, the earliest is searched.
    #[cold]
    fn find_earliest(&mut self) {
        let mut earliest = self.next;
        for (i, free) in self.free.iter().enumerate() {
            if *free < self.free[earliest] {
                earliest = i;
            }
        }
        self.free.swap(self.next, earliest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(slots: &mut Slots, at: u64, length: u64) -> u64 {
        let start = slots.wait(Time(at));
        slots.take(start + Time(length));
        start.0
    }

    #[test]
    fn a_full_queue_waits_for_the_entry_that_is_free_first() {
        let mut slots = Slots::new(2);
        assert_eq!(take(&mut slots, 0, 100), 0);
        assert_eq!(take(&mut slots, 0, 10), 0);
        assert_eq!(
            take(&mut slots, 0, 10),
            10,
            "the second entry, though taken later"
        );
        assert_eq!(take(&mut slots, 0, 10), 20);
        assert_eq!(take(&mut slots, 200, 10), 200);
    }
}
