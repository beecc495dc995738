//! Whether a unit may be in a collection, without looking through it.

use super::wear::spread;

/// Counts of units by a hash: where the count is 0, no such unit is there.
#[derive(Clone, Debug)]
pub(super) struct Presence(Box<[u32; BUCKETS]>);

/// Several times what the collections hold.
const BUCKETS: usize = 512;

impl Presence {
    /// Of an empty collection.
    pub(super) fn new() -> Self {
        Self(Box::new([0; BUCKETS]))
    }

    #[inline]
    fn bucket(unit: u64) -> usize {
        spread(unit) as usize % BUCKETS
    }

    /// One more `unit` is there.
    #[inline]
    pub(super) fn add(&mut self, unit: u64) {
        self.0[Self::bucket(unit)] += 1;
    }

    /// One `unit` less.
    #[inline]
    pub(super) fn remove(&mut self, unit: u64) {
        self.0[Self::bucket(unit)] -= 1;
    }

    /// May `unit` be there? If not, it is not.
    #[inline]
    pub(super) fn may_have(&self, unit: u64) -> bool {
        self.0[Self::bucket(unit)] != 0
    }
}

#[cfg(test)]
mod tests {
    use super::Presence;

    #[test]
    fn what_was_added_and_not_removed_may_be_there() {
        let mut presence = Presence::new();
        for unit in 0..2000 {
            presence.add(unit);
            presence.add(unit);
            presence.remove(unit);
        }
        assert!((0..2000).all(|unit| presence.may_have(unit)));
        for unit in 0..2000 {
            presence.remove(unit);
        }
        assert!(!(0..4000).any(|unit| presence.may_have(unit)));
    }
}
