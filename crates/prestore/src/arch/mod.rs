//! What differs between architectures. Each offers:
//!
//! * `facts()`: what CPU and operating system allow, and `LINE_SOURCE`, which ends in NUL;
//! * `apply(instruction, start, size, line_size)`: an instruction over the lines of a range;
//! * `stream(instruction, to, from, source, units)`: non-temporal stores of whole [`UNIT`]s;
//! * `fence()`: earlier stores, non-temporal ones too, before later stores.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
mod x86_64_detect;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{LINE_SOURCE, apply, facts, fence, stream};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use other::{LINE_SOURCE, apply, facts, fence, stream};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{apply, fence, stream};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64_detect::{LINE_SOURCE, facts};

/// Bytes that non-temporal stores write as a whole: a write-combining buffer of x86, and a divisor of every
/// line size in use.
pub(crate) const UNIT: usize = 64;

/// Where a stream's data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// As many bytes as are written.
    Bytes,
    /// One unit, written again and again.
    Pattern,
}

impl Source {
    /// Bytes to go on in the source after each unit.
    #[inline(always)]
    pub const fn step(self) -> usize {
        match self {
            Source::Bytes => UNIT,
            Source::Pattern => 0,
        }
    }
}
