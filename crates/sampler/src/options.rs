use std::num::NonZeroU64;

/// Samples a second and CPU on Intel. At [`SAMPLE_COST_NS`] this is 0.4 % of the CPU, below the 1 % that P0 (section 6.1) found for its sampling pass. A prime, so
/// that it does not beat with timers.
pub const DEFAULT_HERTZ: u64 = 997;

/// Samples a second and CPU with AMD IBS: it samples all operations, of which a tenth to a fifth
/// are stores, so more are needed for the same number of stores. 0.8 % at [`SAMPLE_COST_NS`].
pub const DEFAULT_IBS_HERTZ: u64 = 1_999;

/// Samples a second and CPU with the software clock, 0.6 % at [`CLOCK_SAMPLE_COST_NS`].
pub const DEFAULT_CLOCK_HERTZ: u64 = 499;

/// Operations between two Arm SPE samples. SPE raises no interrupt a sample, and the store filter
/// drops loads before they are written; at 4 operations a nanosecond this is at most 4,000 a second.
pub const DEFAULT_SPE_INTERVAL: u64 = 1 << 20;

/// Assumed cost of one interrupt with a call chain, nanoseconds: the upper end of what is usual on
/// current processors (1 to 4 µs).
pub const SAMPLE_COST_NS: u64 = 4_000;

/// Cost of one sample of the software clock, nanoseconds: measured on a virtual machine without
/// counters, where programming the timer leaves the guest (11 µs; slope between 997 and 7,919 Hz).
pub const CLOCK_SAMPLE_COST_NS: u64 = 11_000;

/// Assumed cost of one Arm SPE record, nanoseconds: a 64-byte write and its share of the interrupt
/// that announces a filled area.
pub const SPE_RECORD_COST_NS: u64 = 200;

/// How often to sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// About so many samples a second and CPU; the kernel adapts the period, and each sample says
    /// how many events it stands for.
    Hertz(NonZeroU64),
    /// One sample every so many events.
    Period(NonZeroU64),
}

/// What to sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EventChoice {
    /// The best precise store event of the host.
    #[default]
    Stores,
    /// The software clock: time, not stores. Shows whether sampling works where no counters exist.
    Clock,
}

/// Settings of a sampling run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What to sample.
    pub event: EventChoice,
    /// How often; `None` = the default of the event, chosen for less than 1 % overhead.
    pub rate: Option<Rate>,
    /// Pages of ring buffer a CPU; rounded up to a power of two. If the kernel refuses to lock so
    /// much memory, it is halved until it agrees.
    pub ring_pages: usize,
    /// Deepest call chain, frames. The kernel follows frame pointers, so chains of code built
    /// without them end early.
    pub max_frames: u16,
    /// Samples kept; further ones are counted in [`crate::Losses::beyond_cap`]. 64 bytes each.
    pub max_samples: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            event: EventChoice::Stores,
            rate: None,
            ring_pages: 64,
            max_frames: 64,
            max_samples: 8_000_000,
        }
    }
}
