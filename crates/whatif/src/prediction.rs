//! What a study tells.

use serde::Serialize;

use crate::Figures;

/// Version of the JSON form. It rises when a key goes away or changes its meaning, not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// The results of a study. Serialised, it is the JSON form of `prestore whatif`, together with the
/// names of the findings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
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
    /// The first piece of advice of every finding followed.
    pub advised: Figures,
    /// Baseline's time over advised's.
    pub speedup: f64,
    /// Each piece of advice alone.
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
    /// Baseline's time over the time with this alone.
    pub speedup: f64,
    /// The run with this alone.
    pub figures: Figures,
}

/// Time without over time with; 1 where nothing took time.
pub(crate) fn speedup(baseline: &Figures, with: &Figures) -> f64 {
    if with.cycles == 0 {
        return 1.0;
    }
    baseline.cycles as f64 / with.cycles as f64
}
