//! Division by a number that is nearly always a power of two.

/// Divides by a fixed number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: u64,
    /// log2 where it is a power of two.
    shift: Option<u32>,
}

impl Divisor {
    /// Divides by `by`; by one if it is zero.
    pub(crate) fn new(by: u64) -> Self {
        let by = by.max(1);
        Self {
            by,
            shift: by.is_power_of_two().then(|| by.trailing_zeros()),
        }
    }

    /// The number.
    pub(crate) fn by(self) -> u64 {
        self.by
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn split(self, n: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (n >> shift, n & (self.by - 1)),
            None => (n / self.by, n % self.by),
        }
    }
}
