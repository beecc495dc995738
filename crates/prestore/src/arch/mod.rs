//! What differs between architectures. Each offers:
//!
//! * `facts()`: what CPU and operating system allow, and `LINE_SOURCE`, which ends in NUL;
//! * `apply(instruction, start, size, line_size)`: an instruction over the lines of a range;
//! * `stream(instruction, to, from, units)`: non-temporal stores of whole [`UNIT`]s;
//! * `stream_word(instruction, to, word, units)`: the same of one word, again and again;
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
pub(crate) use aarch64::{LINE_SOURCE, apply, facts, fence, stream, stream_word};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use other::{LINE_SOURCE, apply, facts, fence, stream, stream_word};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{apply, fence, stream, stream_word};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64_detect::{LINE_SOURCE, facts};

/// Bytes that non-temporal stores write as a whole: a write-combining buffer of x86, and a divisor of every
/// line size in use.
pub(crate) const UNIT: usize = 64;
