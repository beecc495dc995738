//! What a study tells.

use serde::Serialize;

use crate::{Figures, Speedup};

/// Version of the JSON form. It rises when a key goes away or changes its meaning, not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 2;

/// The results of a study. Serialised, it is the JSON form of `prestore whatif`, together with the
/// names of the findings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Simulations of each variant on each machine.
    pub simulations: u32,
    /// Units of each simulation, if they are samples; `None`, and no key: all was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_units: Option<u64>,
    /// As they were asked for.
    pub machines: Vec<MachinePrediction>,
}

/// One machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachinePrediction {
    /// Its name.
    pub machine: String,
    /// The program as it is.
    pub baseline: Figures,
    /// What of the effects was followed together, by index in `findings`: the best of each finding that gains, or
    /// of each that was asked for. Empty: nothing gains.
    pub followed: Vec<usize>,
    /// The run with that; the baseline's where there is nothing to follow.
    pub advised: Figures,
    /// Baseline's time over advised's.
    #[serde(flatten)]
    pub speedup: Speedup,
    /// Each piece of advice alone, in each way to write it.
    pub findings: Vec<Effect>,
    /// What else a reader must know: one sentence each.
    pub notes: Vec<String>,
}

/// One piece of advice on one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Index of the finding, from 0, in the analysis.
    pub finding: usize,
    /// Operation: `clean`, `demote`, `skip`.
    pub op: &'static str,
    /// How the source does it: `call`, `copy-call`, `in-place`, `buffer`, `writer`.
    pub way: &'static str,
    /// Baseline's time over the time with this alone.
    #[serde(flatten)]
    pub speedup: Speedup,
    /// The best of its finding on this machine, and a gain.
    pub best: bool,
    /// Why it does nothing on this machine; `None`: it does something.
    pub idle: Option<&'static str>,
    /// The first run with this alone.
    pub figures: Figures,
}
