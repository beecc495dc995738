//! Which set of a cache a line belongs to.

use prestore_machine::SliceHash;

/// The map from lines to sets, chosen once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    /// Low bits: the number of sets is a power of two.
    Mask(u64),
    /// The remainder by any number of sets.
    Modulo(u64),
    /// Slices of `2^bits` sets. The set in a slice: all groups of `bits` bits of the line number,
    /// folded together by exclusive or. The slice: a hash of that set and the bits above the lowest
    /// group.
    Folded { slices: u64, bits: u32 },
    /// Slices of any number of sets. The set in a slice is a remainder, the slice a hash of it and
    /// the quotient.
    Divided { slices: u64, sets: u64 },
}

/// The fraction of the golden ratio, in 2^-64: neighbours spread evenly over slices.
pub(super) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// The fraction of the square root of two, in 2^-64.
const ROOT_2: u64 = 0x6A09_E667_F3BC_C909;

impl Index {
    /// For `slices` slices of `sets` sets each.
    pub(super) fn new(hash: SliceHash, slices: u64, sets: u64) -> Self {
        match hash {
            SliceHash::None if (slices * sets).is_power_of_two() => Self::Mask(slices * sets - 1),
            SliceHash::None => Self::Modulo(slices * sets),
            SliceHash::XorFold if sets.is_power_of_two() => Self::Folded {
                slices,
                bits: sets.trailing_zeros(),
            },
            SliceHash::XorFold => Self::Divided { slices, sets },
        }
    }

    /// The set of `line`, sets counted slice by slice.
    #[inline]
    pub(super) fn set(self, line: u64) -> usize {
        (match self {
            Self::Mask(mask) => line & mask,
            Self::Modulo(sets) => line % sets,
            Self::Folded { slices, bits } => {
                let set = fold(line, bits);
                (slice(line >> bits, set, slices) << bits) | set
            }
            Self::Divided { slices, sets } => {
                let set = line % sets;
                slice(line / sets, set, slices) * sets + set
            }
        }) as usize
    }
}

/// The slice: the fraction of `high` times the golden ratio plus `set` times the root of two,
/// scaled.
#[inline]
fn slice(high: u64, set: u64, slices: u64) -> u64 {
    let hash = high
        .wrapping_mul(GOLDEN)
        .wrapping_add(set.wrapping_mul(ROOT_2));
    ((hash >> 32) * slices) >> 32
}

#[inline]
fn fold(line: u64, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    // Halves onto each other, then halves of those.
    let mut shift = bits;
    while 2 * shift < u64::BITS {
        shift *= 2;
    }
    let mut folded = line;
    while shift >= bits {
        folded ^= folded >> shift;
        shift /= 2;
    }
    folded & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use prestore_machine::SliceHash;

    use super::Index;

    #[test]
    fn plain_indexing_takes_low_bits() {
        let index = Index::new(SliceHash::None, 1, 64);
        assert_eq!((index.set(63), index.set(64), index.set(65)), (63, 0, 1));
    }

    #[test]
    fn plain_indexing_takes_any_number_of_sets() {
        let index = Index::new(SliceHash::None, 3, 5);
        assert_eq!((index.set(14), index.set(15), index.set(31)), (14, 0, 1));
    }

    #[test]
    fn all_groups_of_bits_are_folded() {
        for bits in 1..=32 {
            for line in [0, 1, 0x0123_4567_89AB_CDEF, u64::MAX >> 5, 1 << 58] {
                let groups = (0..64_u32.div_ceil(bits)).map(|n| line >> (n * bits));
                let folded = groups.fold(0, |all, group| all ^ group) & ((1 << bits) - 1);
                assert_eq!(super::fold(line, bits), folded, "{line:x} by {bits}");
            }
        }
    }

    #[test]
    fn hashed_sets_fill_evenly() {
        for (slices, sets) in [(20, 2048), (1, 1024), (3, 100)] {
            let index = Index::new(SliceHash::XorFold, slices, sets);
            let mut lines = vec![0u32; (slices * sets) as usize];
            for line in 0..lines.len() as u64 * 16 {
                lines[index.set(0x1f_c000_0000 + line)] += 1;
            }
            assert!(
                lines.iter().all(|&n| (12..=20).contains(&n)),
                "{slices} x {sets}: {:?} to {:?}",
                lines.iter().min(),
                lines.iter().max()
            );
        }
    }
}
