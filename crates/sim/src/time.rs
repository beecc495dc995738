//! Simulated time.

use std::ops::{Add, AddAssign, Sub};

use prestore_machine::quantity::{Clock, Cycles, Nanos};

/// A point in simulated time, or a duration: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);

    /// A duration in nanoseconds.
    pub fn nanos(n: Nanos) -> Self {
        Self((n.0 * 1e3).round() as u64)
    }

    /// A duration in cycles of `clock`.
    pub fn cycles(n: Cycles, clock: Clock) -> Self {
        Self((n.0 * 1e3 / clock.0).round() as u64)
    }

    /// How long `bytes` take at `gb_per_s` (10^9 bytes a second).
    pub fn transfer(bytes: u64, gb_per_s: f64) -> Self {
        Self((bytes as f64 * 1e3 / gb_per_s).round() as u64)
    }

    /// This duration in (fractional) cycles of `clock`.
    pub fn in_cycles(self, clock: Clock) -> f64 {
        self.0 as f64 * clock.0 / 1e3
    }

    /// This duration in nanoseconds.
    pub fn in_nanos(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - earlier`, zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
