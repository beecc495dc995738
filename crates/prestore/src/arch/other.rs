//! Architectures without known instructions: pre-stores do nothing, skipping stores plainly.

use core::sync::atomic::{Ordering, fence as atomic_fence};

use super::UNIT;
use crate::Instruction;
use crate::choice::{Facts, Why};

pub(crate) const LINE_SOURCE: &str = "assumed\0";

pub(crate) fn facts() -> Facts {
    Facts {
        line_log2: 6,
        usable: 0,
        nops: 0,
        lack: Why::Architecture,
    }
}

/// Does nothing.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn apply(_: Instruction, _: *const u8, _: usize, _: usize) {}

pub(crate) fn fence() {
    atomic_fence(Ordering::Release);
}

/// Writes `units` units with ordinary stores.
///
/// # Safety
/// `to` is writable for all units; `from` is readable for as many bytes and does not overlap `to`.
pub(crate) unsafe fn stream(_: Instruction, to: *mut u8, from: *const u8, units: usize) {
    // SAFETY: the caller's ranges.
    unsafe { to.copy_from_nonoverlapping(from, units * UNIT) };
}

/// Writes `word` to all of `units` units with ordinary stores.
///
/// # Safety
/// `to` is writable for all units.
pub(crate) unsafe fn stream_word(_: Instruction, to: *mut u8, word: u64, units: usize) {
    for at in (0..units * UNIT).step_by(8) {
        // SAFETY: within the caller's range.
        unsafe { to.add(at).cast::<u64>().write_unaligned(word) };
    }
}
