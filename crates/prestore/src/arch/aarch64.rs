//! The instructions of AArch64, and what its CPUs and operating systems offer.

use core::arch::asm;

use super::UNIT;
use crate::choice::{Facts, Why};
use crate::{Instruction, LineOp, for_each_line};

pub(crate) const LINE_SOURCE: &str = "CTR_EL0.DminLine\0";

/// Linux lets programs read CTR_EL0 and clean by address (SCTLR_EL1.UCT, UCI), or emulates both.
pub(crate) fn facts() -> Facts {
    if !cfg!(target_os = "linux") {
        return Facts {
            line_log2: 6,
            usable: Instruction::Stnp.bit(),
            nops: 0,
            lack: Why::OperatingSystem,
        };
    }
    let ctr: u64;
    // SAFETY: reads a register that Linux opens to programs.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack, preserves_flags)) };
    let idc = ctr >> 28 & 1 == 1;
    Facts {
        // DminLine is the logarithm of the number of 4-byte words.
        line_log2: (ctr >> 16 & 0xf) as u8 + 2,
        usable: Instruction::DcCvac.bit() | Instruction::DcCvau.bit() | Instruction::Stnp.bit(),
        nops: if idc { Instruction::DcCvau.bit() } else { 0 },
        lack: Why::OperatingSystem,
    }
}

/// Applies a cleaning or demoting instruction to the lines of a range.
///
/// # Safety
/// The range is readable, and the operating system allows the instruction.
#[inline(always)]
pub(crate) unsafe fn apply(instruction: Instruction, start: *const u8, size: usize, line: usize) {
    // SAFETY: passed on.
    unsafe {
        match instruction {
            Instruction::DcCvac => for_each_line(start, size, line, &mut DcCvac),
            Instruction::DcCvau => for_each_line(start, size, line, &mut DcCvau),
            _ => {}
        }
    }
}

struct DcCvac;

impl LineOp for DcCvac {
    #[inline(always)]
    unsafe fn line(&mut self, line: *const u8) {
        // SAFETY: changes no data; the caller vouches for the address.
        unsafe { asm!("dc cvac, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
}

struct DcCvau;

impl LineOp for DcCvau {
    #[inline(always)]
    unsafe fn line(&mut self, line: *const u8) {
        // SAFETY: changes no data; the caller vouches for the address.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
}

/// Orders earlier stores before later stores.
#[inline(always)]
pub(crate) fn fence() {
    // SAFETY: orders memory accesses, does nothing else.
    unsafe { asm!("dmb ishst", options(nostack, preserves_flags)) };
}

/// Writes `units` units from `from` to `to` with non-temporal stores.
///
/// # Safety
/// `to` is writable for all units; `from` is readable for as many bytes and does not overlap `to`.
#[inline]
pub(crate) unsafe fn stream(_: Instruction, mut to: *mut u8, mut from: *const u8, units: usize) {
    for _ in 0..units {
        // SAFETY: within the caller's ranges.
        unsafe {
            asm!(
                "ldp q0, q1, [{from}]",
                "ldp q2, q3, [{from}, #32]",
                "stnp q0, q1, [{to}]",
                "stnp q2, q3, [{to}, #32]",
                out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                from = in(reg) from, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
        to = to.wrapping_add(UNIT);
        from = from.wrapping_add(UNIT);
    }
}

/// Writes `word` to all of `units` units with non-temporal stores.
///
/// # Safety
/// `to` is writable for all units.
#[inline]
pub(crate) unsafe fn stream_word(_: Instruction, mut to: *mut u8, word: u64, units: usize) {
    for _ in 0..units {
        // SAFETY: within the caller's range.
        unsafe {
            asm!(
                "stnp {word}, {word}, [{to}]",
                "stnp {word}, {word}, [{to}, #16]",
                "stnp {word}, {word}, [{to}, #32]",
                "stnp {word}, {word}, [{to}, #48]",
                word = in(reg) word, to = in(reg) to,
                options(nostack, preserves_flags)
            );
        }
        to = to.wrapping_add(UNIT);
    }
}
