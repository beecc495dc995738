//! When something that serves one request at a time is busy.

use crate::Time;

/// The busy times of a bus, a bank, a link: requests are served when they come, in the gaps that
/// earlier calls left.
///
/// Calls do not come in order of time: a fill's victim is written when the fill is done, which is
/// later than the next core's read. Remembering only "busy until" would make that read wait for a
/// write of its future, and the error would add up. So the last `N` busy intervals are remembered,
/// and a call goes into the first gap that is long enough. Time before the oldest remembered
/// interval counts as busy once anything has been forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Calendar<const N: usize> {
    /// From and until, in order, disjoint; neighbours that touch are one interval.
    busy: [(Time, Time); N],
    len: usize,
    /// End of what was forgotten.
    floor: Time,
}

impl<const N: usize> Calendar<N> {
    /// Never busy.
    pub(crate) fn new() -> Self {
        const { assert!(N >= 4) };
        Self {
            busy: [(Time::ZERO, Time::ZERO); N],
            len: 0,
            floor: Time::ZERO,
        }
    }

    /// Takes the first `length` that is free from `at` on; answers when it begins.
    #[inline]
    pub(crate) fn reserve(&mut self, at: Time, length: Time) -> Time {
        let Some(last) = self.busy[..self.len].last_mut() else {
            self.busy[0] = (at, at + length);
            self.len = 1;
            return at;
        };
        if at > last.1 {
            self.append(at, length);
            return at;
        }
        if at >= last.0 {
            let start = last.1;
            last.1 += length;
            return start;
        }
        self.reserve_between(at, length)
    }

    fn append(&mut self, start: Time, length: Time) {
        if self.len == N {
            self.forget();
        }
        self.busy[self.len] = (start, start + length);
        self.len += 1;
    }

    /// Half of it at once, so that it happens rarely.
    fn forget(&mut self) {
        let half = N / 2;
        self.floor = self.busy[half - 1].1;
        self.busy.copy_within(half.., 0);
        self.len -= half;
    }

    /// When `length` would be free from `at` on; takes nothing.
    pub(crate) fn find(&self, at: Time, length: Time) -> Time {
        match self.busy[..self.len].last() {
            None => at,
            Some(last) if at >= last.0 => at.max(last.1),
            Some(_) => self.find_between(at, length).1,
        }
    }

    #[cold]
    fn reserve_between(&mut self, at: Time, length: Time) -> Time {
        let (next, start) = self.find_between(at, length);
        self.insert(next, start, length);
        start
    }

    /// The interval before which `length` is free, and when.
    fn find_between(&self, at: Time, length: Time) -> (usize, Time) {
        let known = &self.busy[..self.len];
        let mut next = known.iter().rposition(|b| b.1 <= at).map_or(0, |i| i + 1);
        let mut start = at.max(self.floor);
        while next < self.len && start + length > self.busy[next].0 {
            start = start.max(self.busy[next].1);
            next += 1;
        }
        (next, start)
    }

    /// Inserts before interval `next`, merging with what it touches.
    fn insert(&mut self, mut next: usize, start: Time, length: Time) {
        let end = start + length;
        let joins_next = next < self.len && self.busy[next].0 == end;
        if next > 0 && self.busy[next - 1].1 == start {
            self.busy[next - 1].1 = end;
            if joins_next {
                self.busy[next - 1].1 = self.busy[next].1;
                self.busy.copy_within(next + 1..self.len, next);
                self.len -= 1;
            }
            return;
        }
        if joins_next {
            self.busy[next].0 = start;
            return;
        }
        if self.len == N {
            if next < N / 2 {
                // Its own neighbourhood is what would be forgotten: time up to it is given up.
                self.floor = end.max(self.floor);
                return;
            }
            self.forget();
            next -= N / 2;
        }
        self.busy.copy_within(next..self.len, next + 1);
        self.busy[next] = (start, end);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn t(ps: u64) -> Time {
        Time(ps)
    }

    #[test]
    fn requests_at_once_follow_each_other() {
        let mut c = Calendar::<4>::new();
        assert_eq!(c.reserve(t(100), t(10)), t(100));
        assert_eq!(c.reserve(t(100), t(10)), t(110));
        assert_eq!(c.reserve(t(105), t(10)), t(120));
        assert_eq!(c.reserve(t(200), t(10)), t(200));
    }

    #[test]
    fn an_earlier_call_is_not_held_up_by_a_later_one() {
        let mut c = Calendar::<4>::new();
        c.reserve(t(1000), t(10));
        assert_eq!(c.reserve(t(5), t(10)), t(5));
        assert_eq!(
            c.reserve(t(995), t(10)),
            t(1010),
            "the gap before is too short"
        );
        assert_eq!(
            c.reserve(t(990), t(10)),
            t(990),
            "the gap before is long enough"
        );
    }

    proptest! {
        #[test]
        fn reserved_times_never_overlap(
            asks in prop::collection::vec((0u64..5000, 1u64..50), 1..200)
        ) {
            let mut c = Calendar::<8>::new();
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for (at, length) in asks {
                let start = c.reserve(t(at), t(length)).0;
                prop_assert!(start >= at);
                for &(from, until) in &taken {
                    prop_assert!(start + length <= from || start >= until);
                }
                taken.push((start, start + length));
            }
        }

        #[test]
        fn in_order_of_time_it_is_a_queue(
            mut asks in prop::collection::vec((0u64..5000, 1u64..50), 1..200)
        ) {
            asks.sort_unstable();
            let mut c = Calendar::<8>::new();
            let mut free = 0;
            for (at, length) in asks {
                let start = c.reserve(t(at), t(length)).0;
                prop_assert_eq!(start, at.max(free));
                free = start + length;
            }
        }
    }
}
