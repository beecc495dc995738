//! What following the advice would gain, with names.

mod accuracy;
mod text;
mod words;

pub use accuracy::Accuracy;
pub use text::whatif_text;
pub use words::{change, gain, written};

use prestore_dirtbuster::Verdict;
use prestore_whatif::{Effect, Figures, SCHEMA_VERSION, Speedup, WhatIf};
use serde::Serialize;

use crate::finding::{NamedFinding, Predicted};
use crate::report::Report;

/// What `prestore whatif` says. Serialised, it is the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIfReport {
    /// Version of the JSON form.
    pub schema_version: u32,
    /// The recorded program and its arguments.
    pub command: Vec<String>,
    /// Simulations of each variant on each machine.
    pub simulations: u32,
    /// Units of each simulation, if they are samples; `None`, and no key: all was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_units: Option<u64>,
    /// As they were asked for.
    pub machines: Vec<NamedMachine>,
    /// What else a reader must know: one sentence each.
    pub notes: Vec<String>,
}

/// One machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedMachine {
    /// Its name.
    pub machine: String,
    /// The program as it is.
    pub baseline: Figures,
    /// What is followed together: the best of each finding that gains, or of each that was asked for.
    pub followed: Vec<Followed>,
    /// The run with that; the baseline's where there is nothing to follow.
    pub advised: Figures,
    /// Baseline's time over advised's.
    #[serde(flatten)]
    pub speedup: Speedup,
    /// Each piece of advice alone, in each way to write it, best first.
    pub findings: Vec<NamedEffect>,
    /// How near predictions for this machine came to what was measured; empty where nothing was.
    pub accuracy: Vec<Accuracy>,
    /// What else a reader must know of this machine's runs: one sentence each.
    pub notes: Vec<String>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Followed {
    /// [`NamedFinding::number`].
    pub finding: usize,
    /// Operation.
    pub op: &'static str,
    /// How the source does it.
    pub way: &'static str,
}

/// One piece of advice on one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedEffect {
    /// [`NamedFinding::number`].
    pub finding: usize,
    /// Function of the place to change.
    pub function: String,
    /// [`NamedFinding::apart`].
    pub apart: Option<String>,
    /// Its source file, where known.
    pub file: Option<String>,
    /// Line, from 1, where known.
    pub line: Option<u32>,
    /// What the analysis advises there.
    pub verdict: Verdict,
    /// The operation that was simulated.
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
    /// The run with this alone.
    pub figures: Figures,
}

impl WhatIfReport {
    /// Names the findings of `predictions`, which speak of those of `report`. `accuracy` says what is known of
    /// predictions for a machine of this name.
    pub fn new(
        report: &Report,
        predictions: &WhatIf,
        accuracy: impl Fn(&str) -> Vec<Accuracy>,
    ) -> Self {
        let machines = predictions.machines.iter().map(|m| {
            let mut findings: Vec<NamedEffect> = (m.findings.iter())
                .filter_map(|e| named(report, e))
                .collect();
            findings.sort_by(|a, b| b.speedup.speedup.total_cmp(&a.speedup.speedup));
            let followed = m.followed.iter().filter_map(|&i| m.findings.get(i));
            NamedMachine {
                machine: m.machine.clone(),
                baseline: m.baseline.clone(),
                followed: followed
                    .map(|e| Followed {
                        finding: e.finding + 1,
                        op: e.op,
                        way: e.way,
                    })
                    .collect(),
                advised: m.advised.clone(),
                speedup: m.speedup,
                findings,
                accuracy: accuracy(&m.machine),
                // What is missing in the recording stands in the report's notes.
                notes: (m.notes.iter())
                    .filter(|note| !report.run.notes.contains(note))
                    .cloned()
                    .collect(),
            }
        });
        Self {
            schema_version: SCHEMA_VERSION,
            command: report.run.command.clone(),
            simulations: predictions.simulations,
            sampled_units: predictions.sampled_units,
            machines: machines.collect(),
            notes: report.run.notes.clone(),
        }
    }
}

fn named(report: &Report, e: &Effect) -> Option<NamedEffect> {
    let number = e.finding + 1;
    let f = report.findings.iter().find(|f| f.number == number)?;
    Some(NamedEffect {
        finding: number,
        function: f.place.function.clone(),
        apart: f.apart.clone(),
        file: f.place.file.clone(),
        line: f.place.line,
        verdict: f.verdict,
        op: e.op,
        way: e.way,
        speedup: e.speedup,
        best: e.best,
        idle: e.idle,
        figures: e.figures.clone(),
    })
}

impl Report {
    /// Puts predicted gains beside the findings and the finding that gains most on any machine
    /// first; without a prediction the order stays, and so do the numbers. What else the simulations say goes to the
    /// run's notes.
    pub fn predict(&mut self, predictions: &WhatIf) {
        for machine in &predictions.machines {
            for effect in &machine.findings {
                let number = effect.finding + 1;
                let Some(finding) = self.findings.iter_mut().find(|f| f.number == number) else {
                    continue;
                };
                finding.predicted.push(Predicted {
                    machine: machine.machine.clone(),
                    op: effect.op.to_owned(),
                    way: effect.way.to_owned(),
                    speedup: effect.speedup.speedup,
                    least: effect.speedup.least,
                    most: effect.speedup.most,
                    best: effect.best,
                });
            }
            for note in &machine.notes {
                if !self.run.notes.contains(note) {
                    self.run.notes.push(note.clone());
                }
            }
        }
        let best = |f: &NamedFinding| {
            let speedups = f.predicted.iter().map(|p| p.speedup);
            speedups.fold(f64::NEG_INFINITY, f64::max)
        };
        self.findings.sort_by(|a, b| best(b).total_cmp(&best(a)));
    }
}
