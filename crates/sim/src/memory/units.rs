//! The units in which a device reads and writes its media.

use crate::divide::Divisor;

/// Units of a fixed number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    unit: Divisor,
}

impl Units {
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            unit: Divisor::new(bytes),
        }
    }

    /// Bytes of one.
    #[inline]
    pub(crate) fn bytes(self) -> u64 {
        self.unit.by()
    }

    /// Number of the unit that holds `addr`.
    #[inline]
    pub(crate) fn number(self, addr: u64) -> u64 {
        self.unit.split(addr).0
    }

    /// First addresses of the units that `bytes` at `addr` lie in.
    #[inline]
    pub(crate) fn of(self, addr: u64, bytes: u64) -> impl Iterator<Item = u64> {
        let first = self.number(addr);
        let last = self.number(addr + bytes.max(1) - 1);
        (first..=last).map(move |n| n * self.unit.by())
    }
}

/// Does the write of `mask` at `addr` cover all of the unit at `unit`? `None`: it writes none of it.
#[inline]
pub(crate) fn covers(addr: u64, mask: u128, unit: u64, bytes: u64) -> Option<bool> {
    let of_unit = if unit >= addr {
        mask >> (unit - addr).min(127)
    } else {
        mask
    };
    if bytes > 128 {
        return (mask != 0).then_some(false);
    }
    let all = u128::MAX >> (128 - bytes);
    // A unit that began before `addr` has its first bytes outside the line.
    let here = of_unit & all;
    (here != 0).then_some(unit >= addr && here == all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_two_units_covers_each_by_its_own_bytes() {
        let upper_only = (u128::MAX >> 64) << 64;
        assert_eq!(covers(128, upper_only, 128, 64), None);
        assert_eq!(covers(128, upper_only, 192, 64), Some(true));
        assert_eq!(covers(128, upper_only >> 1, 192, 64), Some(false));
        assert_eq!(covers(128, upper_only, 128, 128), Some(false));
        assert_eq!(covers(128, u128::MAX, 128, 128), Some(true));
    }

    #[test]
    fn a_line_never_covers_a_larger_unit() {
        assert_eq!(covers(256, u128::MAX, 256, 256), Some(false));
        assert_eq!(covers(320, u128::from(u64::MAX), 256, 128), Some(false));
    }

    #[test]
    fn units_of_a_span() {
        let units = Units::new(256);
        assert_eq!(units.of(192, 64).collect::<Vec<_>>(), [0]);
        assert_eq!(units.of(192, 128).collect::<Vec<_>>(), [0, 256]);
    }
}
