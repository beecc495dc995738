//! How long to measure.

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Half a minute or so: for figures to rely on.
    Full,
    /// Some seconds: for a look, and for tests.
    Quick,
}

impl Effort {
    /// Runs of each figure.
    pub(crate) const fn runs(self) -> usize {
        match self {
            Effort::Full => 101,
            Effort::Quick => 5,
        }
    }

    /// Nanoseconds that a run should take about: short, so that most runs are not interrupted.
    pub(crate) const fn run_ns(self) -> f64 {
        match self {
            Effort::Full => 100_000.0,
            Effort::Quick => 50_000.0,
        }
    }

    /// Bytes that are beyond every cache, where the last level has `last_level` bytes.
    pub(crate) const fn memory_bytes(self, last_level: usize) -> usize {
        let (times, most) = match self {
            Effort::Full => (8, 1 << 30),
            Effort::Quick => (2, 128 << 20),
        };
        let bytes = last_level.saturating_mul(times).next_power_of_two();
        if bytes > most { most } else { bytes }
    }
}
