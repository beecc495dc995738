//! Least recently used.

use super::Policy;
use crate::host::prefetch;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A byte a way: how many ways were used since. Sets are padded to whole words, whose spare bytes hold an age
/// that is never raised.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Lru {
    ages: Vec<u64>,
    words: usize,
}

impl Lru {
    /// Of `sets` sets of `ways` ways.
    pub(super) fn new(ways: usize, sets: usize) -> Self {
        let set = ages(ways);
        Self {
            words: set.len(),
            ages: set.repeat(sets),
        }
    }
}

impl Policy for Lru {
    #[inline(always)]
    fn soon(&self, set: usize) {
        prefetch(&self.ages, set * self.words);
    }

    #[inline(always)]
    fn hit(&mut self, set: usize, way: usize, _: usize) {
        make_youngest(&mut self.ages[set * self.words..][..self.words], way);
    }

    #[inline(always)]
    fn likely_victim(&self, set: usize, ways: usize) -> Option<usize> {
        Some(oldest(&self.ages[set * self.words..][..self.words], ways))
    }

    #[inline(always)]
    fn victim(&mut self, _: u32, set: usize, ways: usize) -> usize {
        oldest(&self.ages[set * self.words..][..self.words], ways)
    }
}

/// The ages of a set, a byte a way, before any use. Spare bytes hold an age that is never raised.
pub(in crate::cache) fn ages(ways: usize) -> Vec<u64> {
    let mut set = vec![0x7F; ways.next_multiple_of(8)];
    for (way, age) in set.iter_mut().enumerate().take(ways) {
        *age = way as u8;
    }
    let words = set.as_chunks::<8>().0.iter();
    words.map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Bytes younger than that of `way` grow older by one; it becomes 0.
#[inline(always)]
pub(in crate::cache) fn make_youngest(ages: &mut [u64], way: usize) {
    let shift = way % 8 * 8;
    let age = (ages[way / 8] >> shift) & 0xFF;
    if age == 0 {
        return;
    }
    for word in ages.iter_mut() {
        let younger = !((*word | HIGH) - LOW * age) & HIGH;
        *word += younger >> 7;
    }
    ages[way / 8] &= !(0xFF << shift);
}

#[inline]
pub(in crate::cache) fn oldest(ages: &[u64], ways: usize) -> usize {
    let age = ways as u64 - 1;
    for (n, word) in ages.iter().enumerate() {
        let other = word ^ (LOW * age);
        // Bytes are below 0x80, so that no borrow crosses them.
        let same = !((other | HIGH) - LOW) & HIGH;
        if same != 0 {
            return n * 8 + same.trailing_zeros() as usize / 8;
        }
    }
    0
}
