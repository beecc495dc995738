//! Accesses, line by line.

use prestore_trace::LineAddr;

use crate::ByteMask;

/// Splits an access of `size` bytes (not 0) at `addr` into lines of `1 << shift` bytes, at most 128.
pub(crate) fn lines(
    addr: u64,
    size: u64,
    shift: u32,
) -> impl Iterator<Item = (LineAddr, ByteMask)> {
    lines_from(addr, size, shift, 0)
}

/// The same, without the first `skip` lines.
pub(super) fn lines_from(
    addr: u64,
    size: u64,
    shift: u32,
    skip: u64,
) -> impl Iterator<Item = (LineAddr, ByteMask)> {
    let (first, last) = LineAddr::span(addr, size, shift);
    let end = addr.saturating_add(size - 1);
    let within = (1u64 << shift) - 1;
    (first.0 + skip..=last.0).map(move |line| {
        let from = if line == first.0 { addr & within } else { 0 };
        let to = if line == last.0 { end & within } else { within };
        (LineAddr(line), range(from, to))
    })
}

/// The bytes `from` to `to`, both inclusive, below 128.
#[inline(always)]
pub(crate) fn range(from: u64, to: u64) -> ByteMask {
    if to < 64 {
        return ByteMask::from((u64::MAX >> (63 - (to - from))) << from);
    }
    (ByteMask::MAX >> (127 - (to - from))) << from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_across_lines_is_split() {
        let parts: Vec<_> = lines(60, 72, 6).collect();
        assert_eq!(
            parts,
            [
                (LineAddr(0), 0xf << 60),
                (LineAddr(1), u128::from(u64::MAX)),
                (LineAddr(2), 0xf),
            ]
        );
    }

    #[test]
    fn a_line_of_128_bytes_fits_a_mask() {
        let parts: Vec<_> = lines(256, 128, 7).collect();
        assert_eq!(parts, [(LineAddr(2), ByteMask::MAX)]);
    }

    #[test]
    fn an_access_at_the_end_of_the_address_space_stays_inside() {
        let parts: Vec<_> = lines(u64::MAX - 1, 8, 6).collect();
        assert_eq!(parts, [(LineAddr(u64::MAX >> 6), 0b11 << 62)]);
    }
}
