//! A limited number of things under way at once: misses, victims on their way to memory.

use crate::Time;

/// Slots, each busy until a time; none: no limit. A ring in order of time: what starts later
/// nearly always ends later, so that keeping it in order costs little.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    until: Vec<Time>,
    /// The slot that is free first.
    first: usize,
}

impl Slots {
    /// All free.
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self {
            until: vec![Time::ZERO; limit.map_or(0, |n| n.max(1)) as usize],
            first: 0,
        }
    }

    /// When, from `at` on, a slot is free.
    #[inline]
    pub(super) fn free(&self, at: Time) -> Time {
        self.until
            .get(self.first)
            .map_or(at, |&until| at.max(until))
    }

    /// Takes the slot that is free first, until `until`.
    #[inline]
    pub(super) fn take(&mut self, until: Time) {
        let slots = self.until.as_mut_slice();
        let last = slots.len().wrapping_sub(1);
        if self.first >= slots.len() {
            return;
        }
        // The first becomes the last; those that end later move on by one.
        let mut at = self.first;
        self.first = if at == last { 0 } else { at + 1 };
        while at != self.first {
            let before = if at == 0 { last } else { at - 1 };
            if slots[before] <= until {
                break;
            }
            slots[at] = slots[before];
            at = before;
        }
        slots[at] = until;
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use crate::Time;

    #[test]
    fn the_third_of_two_waits_for_the_first_to_end() {
        let mut slots = Slots::new(Some(2));
        slots.take(Time(50));
        slots.take(Time(30));
        assert_eq!(slots.free(Time(10)), Time(30));
        assert_eq!(slots.free(Time(40)), Time(40));
    }

    #[test]
    fn without_a_limit_nothing_waits() {
        let mut slots = Slots::new(None);
        slots.take(Time(50));
        assert_eq!(slots.free(Time(10)), Time(10));
    }

    #[test]
    fn slots_are_taken_in_the_order_in_which_they_become_free() {
        let mut slots = Slots::new(Some(3));
        for (until, first) in [(9, 0), (5, 0), (7, 5), (20, 7), (1, 1), (6, 6), (30, 9)] {
            slots.take(Time(until));
            assert_eq!(slots.free(Time(0)), Time(first), "after {until}");
        }
    }
}
