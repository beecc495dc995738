//! From virtual pages to the memory's.

use prestore_machine::PageMapping;

use crate::random::Random;

/// Bits of an address that are shuffled: what a program can address on x86-64 and AArch64.
const ADDRESS_BITS: u32 = 48;

/// Where a virtual page lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pages {
    /// Where its address says.
    Identity,
    /// Anywhere, for a seed: a page's place is a keyed permutation of its number, so that no two
    /// pages share one and no table is needed.
    Shuffled {
        /// log2 of a page's bytes.
        shift: u32,
        /// Of page numbers.
        order: Permutation,
    },
}

impl Pages {
    /// As the machine says. Pages are rounded up to a power of two.
    pub(crate) fn new(mapping: PageMapping, seed: u64) -> Self {
        match mapping {
            PageMapping::Identity => Self::Identity,
            PageMapping::Shuffled(page) => {
                let shift = page.0.max(1).next_power_of_two().trailing_zeros();
                let bits = ADDRESS_BITS
                    .saturating_sub(shift)
                    .next_multiple_of(2)
                    .max(2);
                Self::Shuffled {
                    shift,
                    order: Permutation::new(bits, seed),
                }
            }
        }
    }

    /// The address in memory of virtual address `addr`.
    #[inline]
    pub(crate) fn locate(self, addr: u64) -> u64 {
        match self {
            Self::Identity => addr,
            Self::Shuffled { shift, order } => {
                let offset = addr & ((1 << shift) - 1);
                order.of(addr >> shift) << shift | offset
            }
        }
    }
}

/// A permutation of the numbers below 2^bits chosen by a key: a balanced Feistel network (M. Luby,
/// C. Rackoff, SIAM J. Computing 1988: four rounds are a strong permutation for ideal rounds).
/// Bits above stay as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    half: u32,
    keys: [u64; 4],
}

impl Permutation {
    fn new(bits: u32, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            half: bits / 2,
            keys: std::array::from_fn(|_| random.bits()),
        }
    }

    #[inline]
    fn of(self, n: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let above = n & !(1u64 << (2 * self.half)).wrapping_sub(1);
        let (mut left, mut right) = ((n >> self.half) & mask, n & mask);
        for key in self.keys {
            // The upper bits of a product depend on all bits of its factors.
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.half);
            (left, right) = (right, left ^ mixed);
        }
        above | left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prestore_machine::quantity::Size;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_is_bijective(half in 1u32..8, seed: u64) {
            let order = Permutation::new(2 * half, seed);
            let mut seen = vec![false; 1 << (2 * half)];
            for n in 0..seen.len() as u64 {
                let place = order.of(n) as usize;
                prop_assert!(!std::mem::replace(&mut seen[place], true));
            }
        }

        #[test]
        fn pages_stay_apart_and_offsets_stay(seed: u64, a in 0u64..1 << 48, b in 0u64..1 << 48) {
            let pages = Pages::new(PageMapping::Shuffled(Size(4096)), seed);
            prop_assert_eq!(pages.locate(a) % 4096, a % 4096);
            prop_assert_eq!(pages.locate(a) / 4096 == pages.locate(b) / 4096, a / 4096 == b / 4096);
        }
    }

    #[test]
    fn neighbours_are_torn_apart_and_seeds_differ() {
        let pages = |seed| Pages::new(PageMapping::Shuffled(Size(4096)), seed);
        let near = |seed| {
            (0..1000u64)
                .filter(|n| {
                    pages(seed).locate(n * 4096) + 4096 == pages(seed).locate((n + 1) * 4096)
                })
                .count()
        };
        assert!(near(1) < 5, "{}", near(1));
        assert_ne!(pages(1).locate(0x7fff_1234), pages(2).locate(0x7fff_1234));
    }

    #[test]
    fn addresses_of_the_kernel_stay_apart_from_the_programs() {
        let pages = Pages::new(PageMapping::Shuffled(Size(4096)), 7);
        assert_eq!(pages.locate(0xffff_8000_0000_0000) >> 48, 0xffff);
    }
}
