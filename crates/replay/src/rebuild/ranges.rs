//! Ranges of addresses that are all zeros: reserved memory is large, and mostly never touched.

use std::collections::BTreeMap;

/// Disjoint ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// End by beginning.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(super) fn add(&mut self, mut begin: u64, mut end: u64) {
        if begin >= end {
            return;
        }
        // Joins what touches it.
        while let Some((&b, &e)) = self.ends.range(..=end).next_back() {
            if e < begin {
                break;
            }
            begin = begin.min(b);
            end = end.max(e);
            self.ends.remove(&b);
        }
        self.ends.insert(begin, end);
    }

    pub(super) fn remove(&mut self, begin: u64, end: u64) {
        let mut left = Vec::new();
        while let Some((&b, &e)) = self.ends.range(..end).next_back() {
            if e <= begin {
                break;
            }
            self.ends.remove(&b);
            left.extend([(b, begin), (end, e)]);
        }
        for (b, e) in left {
            if b < e {
                self.ends.insert(b, e);
            }
        }
    }

    /// Those parts of `begin` to `end` that are in it.
    pub(super) fn parts(&self, begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self
            .ends
            .range(..=begin)
            .next_back()
            .map_or(begin, |r| *r.0);
        self.ends
            .range(first..end.max(first))
            .map(move |(&b, &e)| (b.max(begin), e.min(end)))
            .filter(|(b, e)| b < e)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_join_and_split() {
        let mut all = Ranges::default();
        all.add(10, 20);
        all.add(30, 40);
        all.add(20, 25);
        all.add(50, 50);
        let parts = |all: &Ranges, b, e| all.parts(b, e).collect::<Vec<_>>();
        assert_eq!(parts(&all, 0, 100), [(10, 25), (30, 40)]);
        all.remove(12, 35);
        assert_eq!(parts(&all, 0, 100), [(10, 12), (35, 40)]);
        assert_eq!(parts(&all, 11, 36), [(11, 12), (35, 36)]);
        all.add(5, 60);
        assert_eq!(parts(&all, 0, 100), [(5, 60)]);
        assert_eq!(parts(&all, 60, 70), []);
    }
}
