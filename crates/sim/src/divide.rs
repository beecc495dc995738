//! Division by a fixed number, which is nearly always a power of two.

/// Divides by a fixed number without the processor's slow division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: u64,
    /// log2 where it is a power of two.
    shift: Option<u32>,
    /// 2^64 by the number, rounded down.
    inverse: u64,
}

impl Divisor {
    /// Divides by `by`; by one if it is zero.
    pub(crate) fn new(by: u64) -> Self {
        let by = by.max(1);
        Self {
            by,
            shift: by.is_power_of_two().then(|| by.trailing_zeros()),
            inverse: (u128::from(u64::MAX).wrapping_add(1) / u128::from(by)) as u64,
        }
    }

    /// The number.
    pub(crate) fn by(self) -> u64 {
        self.by
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn split(self, n: u64) -> (u64, u64) {
        if let Some(shift) = self.shift {
            return (n >> shift, n & (self.by - 1));
        }
        // The inverse is too small by less than one, so that the quotient is by one at most.
        let quotient = ((u128::from(n) * u128::from(self.inverse)) >> 64) as u64;
        let rest = n - quotient * self.by;
        if rest < self.by {
            (quotient, rest)
        } else {
            (quotient + 1, rest - self.by)
        }
    }

    /// The quotient.
    #[inline]
    pub(crate) fn quotient(self, n: u64) -> u64 {
        self.split(n).0
    }

    /// The remainder.
    #[inline]
    pub(crate) fn remainder(self, n: u64) -> u64 {
        self.split(n).1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Divisor;

    fn check(n: u64, by: u64) {
        assert_eq!(Divisor::new(by).split(n), (n / by, n % by), "{n} by {by}");
    }

    #[test]
    fn the_ends_of_each_quotient_are_right() {
        for by in (1..200).chain([40_960, 65_535, 1 << 33, u64::MAX / 3, u64::MAX]) {
            for n in [0, 1, by - 1, by, u64::MAX / by * by - 1, u64::MAX / by * by] {
                check(n, by);
            }
            check(u64::MAX, by);
        }
    }

    proptest! {
        #[test]
        fn any_number_is_divided_by_any(n: u64, by in 1..u64::MAX, bits in 0..64_u32) {
            check(n, (by >> bits).max(1));
        }
    }
}
