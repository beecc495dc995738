//! Which set of a cache a line belongs to.

use prestore_machine::SliceHash;

use crate::divide::Divisor;

/// The map from lines to sets, chosen once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    /// Low bits: the number of sets is a power of two.
    Mask(u64),
    /// The remainder by any number of sets.
    Modulo(Divisor),
    /// Slices of `2^bits` sets. The set in a slice: all groups of `bits` bits of the line number,
    /// folded together by exclusive or. The slice: a hash of that set and the bits above the lowest
    /// group.
    Folded {
        slices: u64,
        bits: u32,
        /// The first shift of [`fold`].
        shift: u32,
        start: Start,
    },
    /// Slices of any number of sets. The set in a slice is a remainder, the slice a hash of it and
    /// the quotient.
    Divided {
        slices: u64,
        sets: u64,
        start: Start,
    },
}

/// Where a set's lines begin to go round the slices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// Neighbouring sets begin at a distance that is always the same.
    Steps,
    /// Each set begins elsewhere, and elsewhere again in another region: neighbouring lines that one
    /// stream of a region replaces are replaced one after the other, not those that another stream or
    /// random accesses replace.
    OfRegion,
}

/// The fraction of the golden ratio, in 2^-64: neighbours spread evenly over slices.
pub(super) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// The fraction of the square root of two, in 2^-64.
const ROOT_2: u64 = 0x6A09_E667_F3BC_C909;
/// The fraction of the square root of three, in 2^-64.
const ROOT_3: u64 = 0xBB67_AE85_84CA_A73B;
/// A region has two to this lines of each set in a slice.
const REGION_BITS: u32 = 12;

impl Index {
    /// For `slices` slices of `sets` sets each.
    pub(super) fn new(hash: SliceHash, slices: u64, sets: u64) -> Self {
        let start = match hash {
            SliceHash::None | SliceHash::XorFold => Start::Steps,
            SliceHash::RegionFold => Start::OfRegion,
        };
        match hash {
            SliceHash::None if (slices * sets).is_power_of_two() => Self::Mask(slices * sets - 1),
            SliceHash::None => Self::Modulo(Divisor::new(slices * sets)),
            _ if sets.is_power_of_two() => Self::Folded {
                slices,
                bits: sets.trailing_zeros(),
                shift: first_shift(sets.trailing_zeros()),
                start,
            },
            _ => Self::Divided {
                slices,
                sets,
                start,
            },
        }
    }

    /// The set of `line`, sets counted slice by slice.
    #[inline(always)]
    pub(super) fn set(&self, line: u64) -> usize {
        match self {
            Self::Mask(mask) => (line & mask) as usize,
            other => other.far_set(line),
        }
    }

    /// The same of caches that are not asked for every access.
    fn far_set(self, line: u64) -> usize {
        (match self {
            Self::Mask(mask) => line & mask,
            Self::Modulo(sets) => sets.remainder(line),
            Self::Folded {
                slices,
                bits,
                shift,
                start,
            } => {
                let set = fold(line, bits, shift);
                (slice(line >> bits, set, slices, start) << bits) | set
            }
            Self::Divided {
                slices,
                sets,
                start,
            } => {
                let set = line % sets;
                slice(line / sets, set, slices, start) * sets + set
            }
        }) as usize
    }
}

/// The slice: the fraction of `high` times the golden ratio plus the start of `set`, scaled.
#[inline]
fn slice(high: u64, set: u64, slices: u64, start: Start) -> u64 {
    let steps = set.wrapping_mul(ROOT_2);
    let start = match start {
        Start::Steps => steps,
        Start::OfRegion => {
            let region = (high >> REGION_BITS).wrapping_mul(ROOT_3);
            (steps ^ region).wrapping_mul(ROOT_2)
        }
    };
    let hash = high.wrapping_mul(GOLDEN).wrapping_add(start);
    ((hash >> 32) * slices) >> 32
}

/// The most that [`fold`] to `bits` bits shifts by: halves come onto each other, then halves of those.
fn first_shift(bits: u32) -> u32 {
    let mut shift = bits;
    while shift != 0 && 2 * shift < u64::BITS {
        shift *= 2;
    }
    shift
}

/// All groups of `bits` bits of `line` by exclusive or; `shift` is the [`first_shift`].
#[inline]
fn fold(line: u64, bits: u32, mut shift: u32) -> u64 {
    let mut folded = line;
    while shift > bits {
        folded ^= folded >> shift;
        shift /= 2;
    }
    (folded ^ (folded >> bits)) & ((1 << bits) - 1)
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
                let shift = super::first_shift(bits);
                assert_eq!(super::fold(line, bits, shift), folded, "{line:x} by {bits}");
            }
        }
    }

    #[test]
    fn hashed_sets_fill_evenly() {
        let shapes = [(20, 2048), (1, 1024), (3, 100)];
        let hashes = [SliceHash::XorFold, SliceHash::RegionFold];
        for ((slices, sets), hash) in shapes.iter().flat_map(|s| hashes.map(|h| (*s, h))) {
            let index = Index::new(hash, slices, sets);
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

    /// Of 12 000 aligned groups of four lines of a region at `base`, how many are in the same slices as
    /// the group at the region's begin whose first line shares theirs.
    fn alike(hash: SliceHash, base: u64) -> usize {
        let (slices, sets) = (24, 2048);
        let index = Index::new(hash, slices, sets);
        let slice = |line| index.set(line) as u64 / sets;
        let same_sets = (1..3000).map(|lap| base + lap * sets);
        let groups = same_sets.flat_map(|lap| (0..4).map(move |n| lap + 4 * n));
        groups
            .filter(|&group| {
                let set = index.set(group) as u64 % sets;
                let other = (0..sets)
                    .step_by(4)
                    .find(|&o| index.set(o) as u64 % sets == set);
                let other = other.unwrap_or(0);
                (0..4).all(|n| slice(group + n) == slice(other + n))
            })
            .count()
    }

    #[test]
    fn neighbours_stay_together_within_a_region_and_not_across() {
        let far = 1 << 30;
        let (near, across) = (
            alike(SliceHash::RegionFold, 0),
            alike(SliceHash::RegionFold, far),
        );
        assert!(near > 10 * across, "{near} {across}");
        let steps = alike(SliceHash::XorFold, far);
        assert!(steps > 10 * across, "{steps} {across}");
    }
}
