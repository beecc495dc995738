//! Values of ranges of numbers.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A value for each number of some disjoint ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeMap<V> {
    /// By first number: the last, and the value.
    ranges: BTreeMap<u64, (u64, V)>,
}

impl<V: Copy + PartialEq> RangeMap<V> {
    pub(crate) fn new() -> Self {
        Self {
            ranges: BTreeMap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Gives the numbers of `range` a value, whatever they had.
    pub(crate) fn set(&mut self, range: RangeInclusive<u64>, value: V) {
        self.clear(range.clone());
        self.ranges.insert(*range.start(), (*range.end(), value));
    }

    /// Takes the numbers of `range` out.
    pub(crate) fn clear(&mut self, range: RangeInclusive<u64>) {
        let (first, last) = range.into_inner();
        let touched: Vec<_> = self
            .ranges
            .range(..=last)
            .rev()
            .take_while(|(_, (until, _))| *until >= first)
            .map(|(from, (until, value))| (*from, *until, *value))
            .collect();
        for (from, until, value) in touched {
            self.ranges.remove(&from);
            if from < first {
                self.ranges.insert(from, (first - 1, value));
            }
            if until > last {
                self.ranges.insert(last + 1, (until, value));
            }
        }
    }

    /// The value of `n`, and numbers around it that are all like it.
    pub(crate) fn around(&self, n: u64) -> (Option<V>, RangeInclusive<u64>) {
        let below = self.ranges.range(..=n).next_back();
        if let Some((first, (last, value))) = below
            && *last >= n
        {
            return (Some(*value), *first..=*last);
        }
        let first = below.map_or(0, |(_, (last, _))| last + 1);
        let above = self.ranges.range(n..).next();
        let last = above.map_or(u64::MAX, |(first, _)| first - 1);
        (None, first..=last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_table_of_numbers(
            steps in prop::collection::vec((0u64..60, 0u64..20, prop::option::of(0u8..4)), 0..60)
        ) {
            let mut map = RangeMap::new();
            let mut table = [None; 80];
            for (first, length, value) in steps {
                let range = first..=first + length;
                for n in range.clone() {
                    table[n as usize] = value;
                }
                match value {
                    Some(value) => map.set(range, value),
                    None => map.clear(range),
                }
                for n in 0..80u64 {
                    let (value, around) = map.around(n);
                    prop_assert_eq!(value, table[n as usize]);
                    prop_assert!(around.contains(&n));
                    for like in around.take_while(|n| *n < 80) {
                        prop_assert_eq!(table[like as usize], value);
                    }
                }
            }
        }
    }
}
