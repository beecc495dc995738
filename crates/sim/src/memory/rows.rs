//! Banks and rows of a memory chip.

use crate::divide::Divisor;

/// Where a byte lies: rows go round the banks, so that a sequential stream opens one row after the
/// other in different banks (RoRaBaCo; the channel was taken out before).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    row: Divisor,
    banks: Divisor,
    /// log2 of the number of banks, rounded up, where banks are hashed.
    hash: Option<u32>,
}

/// A bank and a row in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub bank: usize,
    pub row: u64,
    /// Byte within the row.
    pub offset: u64,
}

impl Rows {
    /// Rows of `row` bytes in `banks`.
    pub(crate) fn plain(row: u64, banks: u32) -> Self {
        Self {
            row: Divisor::new(row),
            banks: Divisor::new(u64::from(banks)),
            hash: None,
        }
    }

    /// Rows of `row` bytes in `banks`; row bits are folded into the bank's number, as memory
    /// controllers do so that arrays a power of two apart do not share a bank (permutation-based
    /// interleaving: Zhang, Zhu, Zhang, MICRO 2000).
    pub(crate) fn hashed(row: u64, banks: u32) -> Self {
        Self {
            hash: Some(banks.max(2).next_power_of_two().trailing_zeros()),
            ..Self::plain(row, banks)
        }
    }

    /// Bytes of a row.
    pub(crate) fn row_bytes(self) -> u64 {
        self.row.by()
    }

    /// Where `addr` lies.
    #[inline]
    pub(crate) fn locate(self, addr: u64) -> Place {
        let (block, offset) = self.row.split(addr);
        let (row, mut bank) = self.banks.split(block);
        if let Some(bits) = self.hash {
            let folded = row ^ row >> bits ^ row >> (2 * bits);
            bank = self.banks.split(bank + self.banks.split(folded).1).1;
        }
        Place {
            bank: bank as usize,
            row,
            offset,
        }
    }

    /// The row of `addr`, unlike all other rows of the device.
    #[inline]
    pub(crate) fn number(self, addr: u64) -> u64 {
        self.row.split(addr).0
    }

    /// `bytes` at `addr` cut at the ends of rows: address and length of each piece.
    pub(crate) fn pieces(self, addr: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = addr + bytes;
        let mut next = addr;
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let start = next;
            next = end.min(start - self.row.split(start).1 + self.row.by());
            Some((start, next - start))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_row_has_a_place_of_its_own(banks in 1u32..40) {
            for rows in [Rows::plain(1024, banks), Rows::hashed(1024, banks)] {
                let mut seen = std::collections::HashSet::new();
                for block in 0..u64::from(banks) * 300 {
                    let place = rows.locate(block * 1024 + 5);
                    prop_assert!(place.bank < banks as usize);
                    prop_assert_eq!(place.offset, 5);
                    prop_assert!(seen.insert((place.bank, place.row)));
                }
            }
        }
    }

    #[test]
    fn arrays_a_power_of_two_apart_share_a_bank_only_without_the_hash() {
        let banks = |rows: Rows| {
            let mut banks: Vec<_> = (0..4).map(|i| rows.locate(i << 24).bank).collect();
            banks.dedup();
            banks.len()
        };
        assert_eq!(banks(Rows::plain(8192, 16)), 1);
        assert!(banks(Rows::hashed(8192, 16)) > 1);
    }

    #[test]
    fn an_access_is_cut_at_rows() {
        let pieces: Vec<_> = Rows::plain(1024, 4).pieces(1000, 1100).collect();
        assert_eq!(pieces, [(1000, 24), (1024, 1024), (2048, 52)]);
    }
}
