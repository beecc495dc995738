//! Writing around the caches.

use crate::arch::{UNIT, stream, stream_word};
use crate::resolve::Chosen;
use crate::{Instruction, Op, fence};

/// Copies `from` to `to` around the caches and fences.
///
/// Copies the shorter of both lengths and returns it. Whole lines are written with non-temporal stores, what is
/// left at both ends with ordinary ones. The fence is part of it because other threads may get at `to` by
/// ordinary synchronisation, which non-temporal stores do not take part in; to pay for it once over many
/// copies, see [`copy_skip_unfenced`].
pub fn copy_skip(to: &mut [u8], from: &[u8]) -> usize {
    let size = to.len().min(from.len());
    // SAFETY: both slices have `size` bytes and, `to` being exclusive, do not overlap.
    unsafe { copy_skip_unfenced(to.as_mut_ptr(), from.as_ptr(), size) };
    fence();
    size
}

/// Fills `to` with `byte` around the caches and fences, as [`copy_skip`] does.
pub fn fill_skip(to: &mut [u8], byte: u8) {
    // SAFETY: the slice is writable.
    unsafe { fill_skip_unfenced(to.as_mut_ptr(), byte, to.len()) };
    fence();
}

/// Copies `size` bytes around the caches, without a fence.
///
/// # Safety
/// `from` is readable and `to` writable for `size` bytes, and they do not overlap. Before another thread may
/// read `to`, this thread must call [`fence`].
pub unsafe fn copy_skip_unfenced(to: *mut u8, from: *const u8, size: usize) {
    let parts = Parts::of(to, size);
    // SAFETY: the parts lie one after the other within the caller's ranges.
    unsafe {
        to.copy_from_nonoverlapping(from, parts.head);
        stream_units(to.add(parts.head), from.add(parts.head), parts.units);
        let tail = size - parts.tail;
        to.add(tail)
            .copy_from_nonoverlapping(from.add(tail), parts.tail);
    }
}

/// Fills `size` bytes around the caches, without a fence.
///
/// # Safety
/// As [`copy_skip_unfenced`].
pub unsafe fn fill_skip_unfenced(to: *mut u8, byte: u8, size: usize) {
    let parts = Parts::of(to, size);
    // SAFETY: the parts lie one after the other within the caller's range.
    unsafe {
        to.write_bytes(byte, parts.head);
        fill_units(to.add(parts.head), byte, parts.units);
        to.add(size - parts.tail).write_bytes(byte, parts.tail);
    }
}

/// A range as bytes before the first whole unit, whole units, and bytes after the last.
struct Parts {
    head: usize,
    units: usize,
    tail: usize,
}

impl Parts {
    #[inline(always)]
    fn of(to: *mut u8, size: usize) -> Parts {
        let to_boundary = to.addr().wrapping_neg() % UNIT;
        let head = to_boundary.min(size);
        let rest = size - head;
        Parts {
            head,
            units: rest / UNIT,
            tail: rest % UNIT,
        }
    }
}

/// Copies whole, aligned units with the stores chosen for this process.
///
/// # Safety
/// As [`stream`], but for the instruction.
#[inline(always)]
pub(crate) unsafe fn stream_units(to: *mut u8, from: *const u8, units: usize) {
    if units == 0 {
        return;
    }
    // SAFETY: passed on; `Chosen` vouches for the instruction.
    unsafe {
        match Chosen::get().instruction(Op::Skip) {
            Instruction::PlainStores => to.copy_from_nonoverlapping(from, units * UNIT),
            instruction => stream(instruction, to, from, units),
        }
    }
}

/// Fills whole, aligned units with the stores chosen for this process.
///
/// # Safety
/// As [`stream_word`], but for the instruction.
#[inline(always)]
unsafe fn fill_units(to: *mut u8, byte: u8, units: usize) {
    if units == 0 {
        return;
    }
    // SAFETY: passed on; `Chosen` vouches for the instruction.
    unsafe {
        match Chosen::get().instruction(Op::Skip) {
            Instruction::PlainStores => to.write_bytes(byte, units * UNIT),
            instruction => stream_word(instruction, to, u64::from_ne_bytes([byte; 8]), units),
        }
    }
}
