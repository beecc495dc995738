//! The core's clock and what it does in a cycle.

use crate::arch::{ADDS, dependent_adds, independent_loads, independent_mix};
use crate::buffer::Buffer;
use crate::figure::{Figure, each};
use crate::{CalibrateError, Effort};

/// What a core does, memory aside.
pub(crate) struct Core {
    /// GHz while measuring.
    pub clock: Figure,
    /// Instructions a cycle.
    pub width: Figure,
    /// Loads that hit the nearest cache, a cycle.
    pub loads: Figure,
}

const MIX: &str = "a mix of additions, loads from L1 and vector instructions, a cycle";

/// Measures it; `None` where no run gave a number.
pub(crate) fn core(effort: Effort) -> Result<Option<Core>, CalibrateError> {
    let chain = each(effort, dependent_adds);
    let buffer = Buffer::new(4096)?;
    // SAFETY: the buffer has more than a line.
    let free = each(effort, |rounds| unsafe {
        independent_mix(buffer.start(), rounds)
    });
    // SAFETY: the buffer has more than a line.
    let loads = each(effort, |rounds| unsafe {
        independent_loads(buffer.start(), rounds)
    });

    let adds = ADDS as f64;
    let ghz: Vec<f64> = chain.iter().map(|ns| adds / ns).collect();
    let clock = Figure::of(&ghz, "GHz", "a chain of dependent additions, a cycle each");
    Ok(clock.and_then(|clock| {
        let a_cycle = |runs: &[f64]| -> Vec<f64> {
            runs.iter().map(|ns| adds / ns / clock.value()).collect()
        };
        let width = Figure::of(&a_cycle(&free), "", MIX)?;
        let loads = Figure::of(&a_cycle(&loads), "", "independent loads from L1 a cycle")?;
        Some(Core {
            clock,
            width,
            loads,
        })
    }))
}

/// GHz of the time-stamp counter (x86) or the generic timer (AArch64), which tells time and not cycles.
pub(crate) fn counter(effort: Effort) -> Option<Figure> {
    let runs: Vec<f64> = (0..effort.runs())
        .map(|_| {
            let start = read_counter();
            let ns = crate::figure::ns(|| dependent_adds(20_000));
            // The clock is read inside of the counter's interval.
            read_counter().wrapping_sub(start) as f64 / ns
        })
        .collect();
    Figure::of(
        &runs,
        "GHz",
        "the time-stamp counter against the system's clock",
    )
}

#[cfg(target_arch = "x86_64")]
fn read_counter() -> u64 {
    // SAFETY: every x86-64 CPU has it; Linux allows it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
fn read_counter() -> u64 {
    let count: u64;
    // SAFETY: reads a register that Linux opens to programs.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
    count
}
