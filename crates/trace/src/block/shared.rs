//! Memory that several processes have in common.

use std::ops::Range;

/// Ranges of a process's addresses whose pages other processes may have as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// In order, apart from each other.
    ranges: Vec<Range<u64>>,
}

impl SharedMemory {
    /// Is `addr` in it?
    #[inline]
    pub fn has(&self, addr: u64) -> bool {
        let after = self.ranges.partition_point(|r| r.start <= addr);
        after > 0 && addr < self.ranges[after - 1].end
    }

    /// Is there any?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds a range.
    pub(super) fn add(&mut self, mut range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.ranges.partition_point(|r| r.end < range.start);
        let until = self.ranges.partition_point(|r| r.start <= range.end);
        for met in &self.ranges[from..until] {
            range = range.start.min(met.start)..range.end.max(met.end);
        }
        self.ranges.splice(from..until, [range]);
    }

    /// Adds another process's.
    pub(super) fn join(&mut self, other: &Self) {
        other.ranges.iter().for_each(|r| self.add(r.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let mut all = SharedMemory::default();
        for range in [50..60, 10..20, 30..40, 20..25, 35..52, 70..70] {
            all.add(range);
        }
        assert_eq!(all.ranges, [10..25, 30..60]);
        let inside = [10, 24, 30, 59].map(|a| all.has(a));
        assert_eq!(inside, [true; 4]);
        let outside = [9, 25, 29, 60, 70].map(|a| all.has(a));
        assert_eq!(outside, [false; 5]);
        let mut other = SharedMemory::default();
        other.add(0..100);
        all.join(&other);
        assert_eq!(all.ranges, [0..100]);
    }
}
