//! What a sample says.

use serde::{Deserialize, Serialize};

use super::SkippedLine;

/// A place in the code as the sampler names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// Instruction pointer (as printed: absolute, or relative to the module).
    pub ip: u64,
    /// Function, where known.
    pub symbol: Option<String>,
    /// Bytes into the function, where known.
    pub offset: Option<u64>,
    /// Module, where known; `inlined` for a frame that has no code of its own.
    pub module: Option<String>,
}

/// One sampled access (or, without hardware support for that, one sampled instruction).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Name of the thread.
    pub comm: String,
    /// Process, 0 where not given.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Time in nanoseconds of the sampler's clock, where given.
    pub time_ns: Option<u64>,
    /// The event that was sampled.
    pub event: String,
    /// How many events the sample stands for; 1 where not given.
    pub period: u64,
    /// The instruction.
    pub at: Frame,
    /// Data address, where the hardware gave it.
    pub addr: Option<u64>,
    /// Cost in cycles, where the hardware gave it.
    pub weight: Option<u64>,
    /// Is it a store (or a load)? Unknown for events that are not accesses.
    pub is_store: Option<bool>,
    /// The callers, innermost first, without the instruction itself.
    pub callers: Vec<Frame>,
}

/// A set of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// In order of the input.
    pub samples: Vec<Sample>,
    /// Lines of the input that were not understood: the first of them.
    pub skipped: Vec<SkippedLine>,
    /// How many there were in all.
    pub skipped_lines: u64,
}
