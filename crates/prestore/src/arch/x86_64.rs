//! The instructions of x86-64.

use core::arch::asm;

use super::UNIT;
use crate::{Instruction, LineOp, for_each_line};

/// Applies a cleaning or demoting instruction to the lines of a range.
///
/// # Safety
/// The range is readable, and the CPU executes the instruction without a fault.
#[inline(always)]
pub(crate) unsafe fn apply(instruction: Instruction, start: *const u8, size: usize, line: usize) {
    // SAFETY: passed on.
    unsafe {
        // The usual one first, in line: a call to clean one line costs hardly more than the instruction.
        if instruction == Instruction::Clwb {
            for_each_line(start, size, line, &mut Clwb);
        } else {
            apply_other(instruction, start, size, line);
        }
    }
}

/// # Safety
/// As [`apply`].
#[inline(never)]
unsafe fn apply_other(instruction: Instruction, start: *const u8, size: usize, line: usize) {
    // SAFETY: passed on.
    unsafe {
        match instruction {
            Instruction::ClflushOpt => for_each_line(start, size, line, &mut ClflushOpt),
            Instruction::Clflush => for_each_line(start, size, line, &mut Clflush),
            Instruction::Cldemote => for_each_line(start, size, line, &mut Cldemote),
            _ => {}
        }
    }
}

macro_rules! line_op {
    ($name:ident, $text:literal) => {
        struct $name;

        impl LineOp for $name {
            #[inline(always)]
            unsafe fn line(&mut self, line: *const u8) {
                // SAFETY: changes no data; the caller vouches for the address and the CPU.
                unsafe { asm!($text, in(reg) line, options(nostack, preserves_flags)) };
            }
        }
    };
}

line_op!(Clwb, "clwb [{}]");
line_op!(ClflushOpt, "clflushopt [{}]");
line_op!(Clflush, "clflush [{}]");
line_op!(Cldemote, "cldemote [{}]");

/// Orders non-temporal stores, too, before later stores.
#[inline(always)]
pub(crate) fn fence() {
    // SAFETY: orders memory accesses, does nothing else.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// Writes `units` units from `from` to `to` with non-temporal stores.
///
/// # Safety
/// `to` is writable for all units and aligned to [`UNIT`]; `from` is readable for as many bytes and does not
/// overlap `to`; `instruction` is usable on this CPU.
#[inline]
pub(crate) unsafe fn stream(instruction: Instruction, to: *mut u8, from: *const u8, units: usize) {
    // SAFETY: passed on.
    unsafe {
        match instruction {
            Instruction::MovntAvx512 => stream_by::<Avx512>(to, from, units),
            Instruction::MovntAvx => stream_by::<Avx>(to, from, units),
            _ => stream_by::<Sse2>(to, from, units),
        }
    }
}

/// Writes `word` to all of `units` units with non-temporal stores. It comes in a register: a pattern in memory, just
/// written in narrower pieces, could not be forwarded to a load of a unit, which then waits until all earlier stores,
/// the last unit's among them, have left the core.
///
/// # Safety
/// As [`stream`].
#[inline]
pub(crate) unsafe fn stream_word(instruction: Instruction, to: *mut u8, word: u64, units: usize) {
    // SAFETY: passed on.
    unsafe {
        match instruction {
            Instruction::MovntAvx512 => stream_word_by::<Avx512>(to, word, units),
            Instruction::MovntAvx => stream_word_by::<Avx>(to, word, units),
            _ => stream_word_by::<Sse2>(to, word, units),
        }
    }
}

/// Non-temporal stores of one width.
trait Stores {
    /// Writes one unit: loads first, then stores in ascending order.
    unsafe fn unit(to: *mut u8, from: *const u8);
    /// Writes one unit of one word.
    unsafe fn word(to: *mut u8, word: u64);
    /// Leaves the vector registers as code compiled for SSE wants them.
    fn end();
}

#[inline(always)]
unsafe fn stream_by<S: Stores>(mut to: *mut u8, mut from: *const u8, units: usize) {
    for _ in 0..units {
        // SAFETY: within the caller's ranges; the pointers are not used beyond them.
        unsafe { S::unit(to, from) };
        to = to.wrapping_add(UNIT);
        from = from.wrapping_add(UNIT);
    }
    S::end();
}

#[inline(always)]
unsafe fn stream_word_by<S: Stores>(mut to: *mut u8, word: u64, units: usize) {
    for _ in 0..units {
        // SAFETY: within the caller's range; the pointer is not used beyond it.
        unsafe { S::word(to, word) };
        to = to.wrapping_add(UNIT);
    }
    S::end();
}

struct Sse2;

impl Stores for Sse2 {
    #[inline(always)]
    unsafe fn unit(to: *mut u8, from: *const u8) {
        // SAFETY: the caller vouches for both units and the alignment.
        unsafe {
            asm!(
                "movdqu {a}, [{from}]",
                "movdqu {b}, [{from} + 16]",
                "movdqu {c}, [{from} + 32]",
                "movdqu {d}, [{from} + 48]",
                "movntdq [{to}], {a}",
                "movntdq [{to} + 16], {b}",
                "movntdq [{to} + 32], {c}",
                "movntdq [{to} + 48], {d}",
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                from = in(reg) from, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    unsafe fn word(to: *mut u8, word: u64) {
        // SAFETY: the caller vouches for the unit and the alignment.
        unsafe {
            asm!(
                "movq {a}, {word}",
                "punpcklqdq {a}, {a}",
                "movntdq [{to}], {a}",
                "movntdq [{to} + 16], {a}",
                "movntdq [{to} + 32], {a}",
                "movntdq [{to} + 48], {a}",
                a = out(xmm_reg) _,
                word = in(reg) word, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn end() {}
}

struct Avx;

impl Stores for Avx {
    #[inline(always)]
    unsafe fn unit(to: *mut u8, from: *const u8) {
        // SAFETY: the caller vouches for both units, the alignment and AVX. Fixed registers, as the crate is
        // not compiled for AVX; naming xmm tells the compiler that the whole register changes.
        unsafe {
            asm!(
                "vmovdqu ymm0, [{from}]",
                "vmovdqu ymm1, [{from} + 32]",
                "vmovntdq [{to}], ymm0",
                "vmovntdq [{to} + 32], ymm1",
                out("xmm0") _, out("xmm1") _,
                from = in(reg) from, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    unsafe fn word(to: *mut u8, word: u64) {
        // SAFETY: the caller vouches for the unit, the alignment and AVX.
        unsafe {
            asm!(
                "vmovq xmm0, {word}",
                "vpunpcklqdq xmm0, xmm0, xmm0",
                "vinsertf128 ymm0, ymm0, xmm0, 1",
                "vmovntdq [{to}], ymm0",
                "vmovntdq [{to} + 32], ymm0",
                out("xmm0") _,
                word = in(reg) word, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn end() {
        zero_upper();
    }
}

struct Avx512;

impl Stores for Avx512 {
    #[inline(always)]
    unsafe fn unit(to: *mut u8, from: *const u8) {
        // SAFETY: as for AVX.
        unsafe {
            asm!(
                "vmovdqu64 zmm0, [{from}]",
                "vmovntdq [{to}], zmm0",
                out("xmm0") _,
                from = in(reg) from, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    unsafe fn word(to: *mut u8, word: u64) {
        // SAFETY: as for AVX.
        unsafe {
            asm!(
                "vpbroadcastq zmm0, {word}",
                "vmovntdq [{to}], zmm0",
                out("xmm0") _,
                word = in(reg) word, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn end() {
        zero_upper();
    }
}

/// Without it later SSE code pays for upper halves that are in use no more.
///
/// All vector registers are named as changed: where the caller's own code is compiled for AVX, their upper halves
/// could hold values.
#[inline(always)]
fn zero_upper() {
    // SAFETY: only called after AVX instructions.
    unsafe {
        asm!("vzeroupper",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nomem, nostack, preserves_flags));
    }
}
