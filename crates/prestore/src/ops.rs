//! The operations on ranges that are already written.

use crate::resolve::Chosen;
use crate::{Instruction, arch};

/// A pre-store operation (P0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Op {
    /// Moves lines to a farther cache level, or out of the core's private buffers.
    Demote = 0,
    /// Writes dirty lines to memory and keeps them.
    Clean = 1,
    /// Writes around the caches. Something for [`query`](crate::query); a range that is written already cannot
    /// skip any more, so [`prestore`] does nothing for it.
    Skip = 2,
}

/// Applies `op` to every line that holds a byte of the `size` bytes at `start`; returns at once.
///
/// A hint: it changes no data, orders nothing and makes nothing durable. Harmful where the lines are written
/// again soon (P0, listing 3: 75 times slower).
///
/// # Safety
/// The range must be readable by this thread, as an address that is not mapped faults on some CPUs.
/// A size of 0 is allowed for any address.
#[inline]
pub unsafe fn prestore(start: *const u8, size: usize, op: Op) {
    if op == Op::Skip {
        return;
    }
    // SAFETY: the caller vouches for the range, `Chosen` for the instruction.
    unsafe {
        match Chosen::known() {
            Some(chosen) => apply(chosen, start, size, op),
            None => prestore_first(start, size, op),
        }
    }
}

/// The first use. Out of line, so that the others neither save registers for it nor jump over it.
///
/// # Safety
/// As [`prestore`].
#[cold]
#[inline(never)]
unsafe fn prestore_first(start: *const u8, size: usize, op: Op) {
    // SAFETY: passed on.
    unsafe { apply(Chosen::get(), start, size, op) }
}

/// # Safety
/// As [`prestore`].
#[inline(always)]
unsafe fn apply(chosen: Chosen, start: *const u8, size: usize, op: Op) {
    // SAFETY: passed on; `Chosen` vouches for the instruction.
    unsafe { arch::apply(chosen.instruction(op), start, size, chosen.line_size()) }
}

/// Applies a given cleaning or demoting instruction, whatever was chosen: for measurements. Others do nothing.
///
/// # Safety
/// As [`prestore`], and the instruction must be [`usable`].
#[inline]
pub unsafe fn execute(instruction: Instruction, start: *const u8, size: usize) {
    // SAFETY: passed on.
    unsafe { arch::apply(instruction, start, size, Chosen::get().line_size()) }
}

/// Whether this CPU and operating system execute the instruction; switches do not matter.
pub fn usable(instruction: Instruction) -> bool {
    arch::facts().usable & instruction.bit() != 0
}

/// Moves what `data` holds to a farther cache level, in the background. See [`prestore`].
#[inline]
pub fn demote<T>(data: &[T]) {
    // SAFETY: a slice is readable.
    unsafe { prestore(data.as_ptr().cast(), size_of_val(data), Op::Demote) }
}

/// Writes what is dirty in `data` to memory, in the background, and keeps it cached. See [`prestore`].
#[inline]
pub fn clean<T>(data: &[T]) {
    // SAFETY: a slice is readable.
    unsafe { prestore(data.as_ptr().cast(), size_of_val(data), Op::Clean) }
}

/// Orders this thread's earlier stores, non-temporal ones too, before its later stores.
///
/// Needed between unfenced skipping writes and the store that publishes them. It does not make data durable.
#[inline]
pub fn fence() {
    arch::fence();
}
