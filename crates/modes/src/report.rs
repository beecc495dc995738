//! What `whatif --types` says.

use serde::Serialize;

use crate::Mode;

/// Version of the JSON form. It rises when a key goes away or changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// Every mode for every range, on every machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModesReport {
    /// Version of this form.
    pub schema_version: u32,
    /// The machines, as they were asked for.
    pub machines: Vec<MachineModes>,
}

/// On one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineModes {
    /// Its name.
    pub machine: String,
    /// The program as it was recorded: everything write-back.
    pub recorded: ModeCost,
    /// The persistent ranges.
    pub ranges: Vec<RangeModes>,
    /// Each range in its best mode; of one range: that.
    pub together: Together,
    /// Modes that the machine cannot have, and why; a sentence each.
    pub notes: Vec<String>,
}

/// One range, the others as recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RangeModes {
    /// Its name.
    pub name: String,
    /// Bytes of it.
    pub bytes: u64,
    /// The modes of memory, the fastest first. Persistent caches stand beside, see [`Self::persistent_caches`].
    pub modes: Vec<ModeCost>,
    /// The fastest.
    pub best: Mode,
    /// The same with caches that a power cut leaves: what no choice of a mode can give.
    pub persistent_caches: ModeCost,
}

/// What a mode costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModeCost {
    /// The mode.
    pub mode: Mode,
    /// Simulated cycles of the program.
    pub cycles: u64,
    /// The same in seconds.
    pub seconds: f64,
    /// Time by that of the best mode of memory, less 1: how much slower.
    pub slower: f64,
}

/// All ranges at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// Modes, in the order of the ranges.
    pub modes: Vec<Mode>,
    /// Simulated cycles.
    pub cycles: u64,
    /// The same in seconds.
    pub seconds: f64,
    /// Time as recorded by this.
    pub speedup: f64,
}
