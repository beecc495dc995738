//! A byte a way: whether it is empty, and a hash of its line. A look-up that misses reads nothing else.

use super::geometry::GOLDEN;
use crate::host::prefetch;

/// The signatures of all places, eight to a word; 0 is an empty one.
#[derive(Clone, Debug)]
pub(super) struct Signatures(Vec<u64>);

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// What stands behind the last way of a set: neither empty nor anybody's signature.
const BEYOND: u8 = 0x7F;

impl Signatures {
    /// Of `sets` sets of `ways` empty ways, each `stride` places (a multiple of 8) apart.
    pub(super) fn new(sets: usize, ways: usize, stride: usize) -> Self {
        if ways == stride {
            return Self(vec![0; sets * stride / 8]);
        }
        let mut set = vec![BEYOND; stride];
        set[..ways].fill(0);
        let set: Vec<u64> = set
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect();
        Self(set.repeat(sets))
    }

    /// The signature of a line: 7 bits of a hash, and one that says that it is there.
    #[inline(always)]
    fn of(line: u64) -> u64 {
        (line.wrapping_mul(GOLDEN) >> 57) | 0x80
    }

    /// The places from `first` will be looked at soon.
    #[inline]
    pub(super) fn soon(&self, first: usize) {
        prefetch(&self.0, first / 8);
    }

    /// The first of `stride` places from `first` that may hold `line` (all that do may, and few
    /// others) and does.
    #[inline(always)]
    pub(super) fn find(
        &self,
        first: usize,
        stride: usize,
        line: u64,
        mut holds: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let pattern = Self::of(line) * LOW;
        let mut eight = first;
        loop {
            let mut zeros = zero_bytes(self.0[eight / 8] ^ pattern);
            while zeros != 0 {
                let place = eight + zeros.trailing_zeros() as usize / 8;
                if holds(place) {
                    return Some(place);
                }
                zeros &= zeros - 1;
            }
            eight += 8;
            if eight >= first + stride {
                return None;
            }
        }
    }

    /// The first empty one of `stride` places from `first`.
    #[inline]
    pub(super) fn empty(&self, first: usize, stride: usize) -> Option<usize> {
        let mut eight = first;
        while eight < first + stride {
            let zeros = zero_bytes(self.0[eight / 8]);
            if zeros != 0 {
                return Some(eight + zeros.trailing_zeros() as usize / 8);
            }
            eight += 8;
        }
        None
    }

    /// `place` holds `line`.
    #[inline]
    pub(super) fn set(&mut self, place: usize, line: u64) {
        let (word, shift) = (&mut self.0[place / 8], place % 8 * 8);
        *word = (*word & !(0xFF << shift)) | (Self::of(line) << shift);
    }

    /// `place` is empty.
    #[inline]
    pub(super) fn clear(&mut self, place: usize) {
        self.0[place / 8] &= !(0xFF << (place % 8 * 8));
    }
}

/// The high bit of each byte that is zero; bytes above the first of those may be marked too, if
/// they are 1.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::Signatures;

    #[test]
    fn a_line_is_found_where_it_was_put() {
        for ways in 1..=32_usize {
            let stride = ways.next_power_of_two().max(8);
            let mut signatures = Signatures::new(3, ways, stride);
            for way in 0..ways {
                assert_eq!(signatures.empty(stride, stride), Some(stride + way));
                signatures.set(stride + way, 1000 + way as u64);
            }
            assert_eq!(signatures.empty(stride, stride), None, "{ways} ways");
            for way in 0..ways {
                let is_it = |place| place == stride + way;
                let found = signatures.find(stride, stride, 1000 + way as u64, is_it);
                assert_eq!(found, Some(stride + way), "of {ways}");
            }
        }
    }

    #[test]
    fn only_ways_of_the_set_are_looked_at() {
        let mut signatures = Signatures::new(2, 11, 16);
        for line in 0..100_000 {
            signatures.set(line as usize % 11, line);
            assert!(
                signatures
                    .find(0, 16, line * 7, |place| place >= 11)
                    .is_none()
            );
            assert!(signatures.find(16, 16, line, |_| true).is_none());
        }
    }
}
