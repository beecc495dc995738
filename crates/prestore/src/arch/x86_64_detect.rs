//! What an x86-64 CPU and its operating system offer.

use core::arch::x86_64::{__cpuid, __cpuid_count};

use crate::Instruction;
use crate::choice::{Facts, Why};

pub(crate) const LINE_SOURCE: &str = "CPUID leaf 1, EBX 15:8 (CLFLUSH line size)\0";

pub(crate) fn facts() -> Facts {
    let max_leaf = __cpuid(0).eax;
    let leaf1 = __cpuid(1);
    let (leaf7_ebx, leaf7_ecx) = if max_leaf >= 7 {
        let leaf7 = __cpuid_count(7, 0);
        (leaf7.ebx, leaf7.ecx)
    } else {
        (0, 0)
    };
    // The vector registers need the operating system to save them: XCR0, readable if OSXSAVE is set.
    let saved = if leaf1.ecx >> 27 & 1 == 1 { xcr0() } else { 0 };
    let avx_saved = saved & 0x06 == 0x06;
    let avx512_saved = saved & 0xe6 == 0xe6;

    let mut usable = Instruction::MovntSse2.bit();
    let mut offer = |instruction: Instruction, there: bool| {
        if there {
            usable |= instruction.bit();
        }
    };
    offer(Instruction::Clflush, leaf1.edx >> 19 & 1 == 1);
    offer(Instruction::ClflushOpt, leaf7_ebx >> 23 & 1 == 1);
    offer(Instruction::Clwb, leaf7_ebx >> 24 & 1 == 1);
    offer(Instruction::Cldemote, leaf7_ecx >> 25 & 1 == 1);
    offer(Instruction::MovntAvx, leaf1.ecx >> 28 & 1 == 1 && avx_saved);
    offer(
        Instruction::MovntAvx512,
        leaf7_ebx >> 16 & 1 == 1 && avx512_saved,
    );

    Facts {
        line_log2: line_log2((leaf1.ebx >> 8 & 0xff) * 8),
        usable,
        // Its encoding is a reserved NOP on CPUs without it.
        nops: Instruction::Cldemote.bit() & !usable,
        lack: Why::CpuLacks,
    }
}

/// The line size as a power of two; 64 if the CPU gives none (no clflush).
fn line_log2(bytes: u32) -> u8 {
    match bytes {
        0 => 6,
        bytes => bytes.ilog2() as u8,
    }
}

fn xcr0() -> u32 {
    let low: u32;
    // SAFETY: xgetbv of register 0 is allowed where OSXSAVE is set, which the caller checked.
    unsafe {
        core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _,
            options(nomem, nostack, preserves_flags));
    }
    low
}
