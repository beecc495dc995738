//! Loops and instructions that the compiler must not change.

use std::arch::asm;

/// Instructions in one round of the loops below.
pub(crate) const ADDS: u64 = 64;

/// A chain of [`ADDS`] additions a round, each waiting for the one before: a cycle each.
///
/// Of registers, as some CPUs add small constants for nothing.
#[inline(never)]
pub(crate) fn dependent_adds(rounds: u64) {
    let (mut value, step) = (1u64, 3u64);
    for _ in 0..rounds {
        // SAFETY: changes the named registers only.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(".rept 64", "add {0}, {1}", ".endr", inout(reg) value, in(reg) step, options(nomem, nostack));
            #[cfg(target_arch = "aarch64")]
            asm!(".rept 64", "add {0}, {0}, {1}", ".endr", inout(reg) value, in(reg) step,
                options(nomem, nostack));
        }
    }
    std::hint::black_box(value);
}

/// [`ADDS`] instructions a round, half of them additions, a quarter each loads from L1 and vector instructions, that
/// do not wait for each other but for the one eight before.
///
/// # Safety
/// `line` is readable for 64 bytes.
#[inline(never)]
pub(crate) unsafe fn independent_mix(line: *const u8, rounds: u64) {
    let (mut a, mut b, mut c, mut d) = (1u64, 2u64, 3u64, 4u64);
    for _ in 0..rounds {
        // SAFETY: reads the caller's 64 bytes, changes the named registers only.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                ".rept 8",
                "add {a}, {a}", "add {b}, {b}", "mov {x}, [{p}]", "pxor {v}, {v}",
                "add {c}, {c}", "add {d}, {d}", "mov {y}, [{p} + 8]", "pxor {w}, {w}",
                ".endr",
                p = in(reg) line, a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
                x = out(reg) _, y = out(reg) _, v = out(xmm_reg) _, w = out(xmm_reg) _,
                options(nostack, readonly)
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                ".rept 8",
                "add {a}, {a}, {a}", "add {b}, {b}, {b}", "ldr {x}, [{p}]", "eor {v}.16b, {v}.16b, {v}.16b",
                "add {c}, {c}, {c}", "add {d}, {d}, {d}", "ldr {y}, [{p}, #8]", "eor {w}.16b, {w}.16b, {w}.16b",
                ".endr",
                p = in(reg) line, a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
                x = out(reg) _, y = out(reg) _, v = out(vreg) _, w = out(vreg) _,
                options(nostack, readonly)
            );
        }
    }
    std::hint::black_box((a, b, c, d));
}

/// 64 stores a round to eight words of one line.
///
/// # Safety
/// `line` is writable for 64 bytes.
#[inline(never)]
pub(crate) unsafe fn independent_stores(line: *mut u8, rounds: u64) {
    for _ in 0..rounds {
        // SAFETY: writes the caller's 64 bytes.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                ".rept 8",
                "mov [{p}], {a}", "mov [{p} + 8], {a}", "mov [{p} + 16], {a}", "mov [{p} + 24], {a}",
                "mov [{p} + 32], {a}", "mov [{p} + 40], {a}", "mov [{p} + 48], {a}", "mov [{p} + 56], {a}",
                ".endr",
                p = in(reg) line, a = in(reg) rounds, options(nostack)
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                ".rept 8",
                "str {a}, [{p}]", "str {a}, [{p}, #8]", "str {a}, [{p}, #16]", "str {a}, [{p}, #24]",
                "str {a}, [{p}, #32]", "str {a}, [{p}, #40]", "str {a}, [{p}, #48]", "str {a}, [{p}, #56]",
                ".endr",
                p = in(reg) line, a = in(reg) rounds, options(nostack)
            );
        }
    }
}

/// 64 independent loads a round from eight words of one line.
///
/// # Safety
/// `line` is readable for 64 bytes.
#[inline(never)]
pub(crate) unsafe fn independent_loads(line: *const u8, rounds: u64) {
    for _ in 0..rounds {
        // SAFETY: reads the caller's 64 bytes.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                ".rept 8",
                "mov {a}, [{p}]", "mov {b}, [{p} + 8]", "mov {a}, [{p} + 16]", "mov {b}, [{p} + 24]",
                "mov {a}, [{p} + 32]", "mov {b}, [{p} + 40]", "mov {a}, [{p} + 48]", "mov {b}, [{p} + 56]",
                ".endr",
                p = in(reg) line, a = out(reg) _, b = out(reg) _, options(nostack, readonly)
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                ".rept 8",
                "ldr {a}, [{p}]", "ldr {b}, [{p}, #8]", "ldr {a}, [{p}, #16]", "ldr {b}, [{p}, #24]",
                "ldr {a}, [{p}, #32]", "ldr {b}, [{p}, #40]", "ldr {a}, [{p}, #48]", "ldr {b}, [{p}, #56]",
                ".endr",
                p = in(reg) line, a = out(reg) _, b = out(reg) _, options(nostack, readonly)
            );
        }
    }
}

/// A fence for loads and stores: `mfence`, `dmb ish`.
#[inline(always)]
pub(crate) fn full_fence() {
    // SAFETY: orders memory accesses, does nothing else.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mfence", options(nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("dmb ish", options(nostack, preserves_flags));
    }
}

/// The compiler must assume that memory changes here.
#[inline(always)]
pub(crate) fn compiler_barrier() {
    // SAFETY: no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// A store that stays where it is written.
///
/// # Safety
/// `at` is writable and aligned.
#[inline(always)]
pub(crate) unsafe fn store(at: *mut u8, value: u64) {
    // SAFETY: passed on.
    unsafe { at.cast::<u64>().write_volatile(value) };
}

/// Two stores of 8 bytes and a load of both, 8 times a round.
///
/// # Safety
/// `line` is writable for 16 bytes.
#[inline(never)]
pub(crate) unsafe fn merging_loads(line: *mut u8, rounds: u64) {
    for _ in 0..rounds {
        // SAFETY: reads and writes the caller's 16 bytes.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                ".rept 8", "mov [{p}], {a}", "mov [{p} + 8], {a}", "movups {v}, [{p}]", ".endr",
                p = in(reg) line, a = in(reg) rounds, v = out(xmm_reg) _, options(nostack)
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                ".rept 8", "str {a}, [{p}]", "str {a}, [{p}, #8]", "ldr {v:q}, [{p}]", ".endr",
                p = in(reg) line, a = in(reg) rounds, v = out(vreg) _, options(nostack)
            );
        }
    }
}

/// 0, as the compiler does not know: what is anded with it makes an address wait for a load and changes nothing.
#[inline(always)]
pub(crate) fn unknown_zero() -> u64 {
    std::hint::black_box(0)
}

/// Names of the full and the store fence.
pub(crate) const FENCES: (&str, &str) = if cfg!(target_arch = "x86_64") {
    ("mfence", "sfence")
} else {
    ("dmb ish", "dmb ishst")
};
