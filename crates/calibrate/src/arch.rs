//! Loops and instructions that the compiler must not change.

use std::arch::asm;

/// Additions in one round of the loops below.
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

/// [`ADDS`] additions a round to eight registers in turn: as many at once as the core has room for.
#[inline(never)]
pub(crate) fn independent_adds(rounds: u64) {
    for _ in 0..rounds {
        // SAFETY: changes the named registers only.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            asm!(
                ".rept 8",
                "add {a}, {s}", "add {b}, {s}", "add {c}, {s}", "add {d}, {s}",
                "add {e}, {s}", "add {f}, {s}", "add {g}, {s}", "add {h}, {s}",
                ".endr",
                s = in(reg) 3u64,
                a = inout(reg) 0u64 => _, b = inout(reg) 0u64 => _, c = inout(reg) 0u64 => _,
                d = inout(reg) 0u64 => _, e = inout(reg) 0u64 => _, f = inout(reg) 0u64 => _,
                g = inout(reg) 0u64 => _, h = inout(reg) 0u64 => _,
                options(nomem, nostack)
            );
            #[cfg(target_arch = "aarch64")]
            asm!(
                ".rept 8",
                "add {a}, {a}, {s}", "add {b}, {b}, {s}", "add {c}, {c}, {s}", "add {d}, {d}, {s}",
                "add {e}, {e}, {s}", "add {f}, {f}, {s}", "add {g}, {g}, {s}", "add {h}, {h}, {s}",
                ".endr",
                s = in(reg) 3u64,
                a = inout(reg) 0u64 => _, b = inout(reg) 0u64 => _, c = inout(reg) 0u64 => _,
                d = inout(reg) 0u64 => _, e = inout(reg) 0u64 => _, f = inout(reg) 0u64 => _,
                g = inout(reg) 0u64 => _, h = inout(reg) 0u64 => _,
                options(nomem, nostack)
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

/// Names of the full and the store fence.
pub(crate) const FENCES: (&str, &str) = if cfg!(target_arch = "x86_64") {
    ("mfence", "sfence")
} else {
    ("dmb ish", "dmb ishst")
};
