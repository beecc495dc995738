//! Counts by key, where most places have few keys and a large program has many places.

/// What was counted by each key, in order of the keys.
#[derive(Clone, Debug)]
pub(crate) struct Tally<K>(Vec<(K, u64)>);

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Ord> Tally<K> {
    /// `n` more of `key`.
    #[inline]
    pub(crate) fn add(&mut self, key: K, n: u64) {
        match self.0.binary_search_by_key(&key, |counted| counted.0) {
            Ok(at) => self.0[at].1 += n,
            Err(at) => {
                if self.0.is_empty() {
                    // Most have one.
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (key, n));
            }
        }
    }

    /// Adds what `other` counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, n) in other.iter() {
            self.add(key, n);
        }
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.0.iter_mut().for_each(|counted| counted.1 *= weight);
    }

    /// Keys, in order, and how often they were counted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_counted_once_each_and_in_order() {
        let mut tally = Tally::default();
        for key in [7, 3, 7, 9, 3, 7] {
            tally.add(key, 1);
        }
        let mut other = Tally::default();
        other.add(8, 5);
        other.merge(&tally);
        other.scale(2);
        let counted: Vec<_> = other.iter().collect();
        assert_eq!(counted, [(3, 4), (7, 6), (8, 10), (9, 2)]);
    }
}
