//! What following the advice would gain, with names.

mod text;
mod words;

pub use text::whatif_text;
pub use words::{gain, gains};

use prestore_dirtbuster::Verdict;
use prestore_whatif::{Figures, SCHEMA_VERSION, WhatIf};
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
    /// The advice at every finding followed.
    pub advised: Figures,
    /// Baseline's time over advised's.
    pub speedup: f64,
    /// Each piece of advice alone, best first.
    pub findings: Vec<NamedEffect>,
    /// What else a reader must know of this machine's runs: one sentence each.
    pub notes: Vec<String>,
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
    /// Baseline's time over the time with this alone.
    pub speedup: f64,
    /// The run with this alone.
    pub figures: Figures,
}

impl WhatIfReport {
    /// Names the findings of `predictions`, which speak of those of `report`.
    pub fn new(report: &Report, predictions: &WhatIf) -> Self {
        let machines = predictions.machines.iter().map(|m| {
            let mut findings: Vec<NamedEffect> = (m.findings.iter())
                .filter_map(|e| {
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
                        speedup: e.speedup,
                        figures: e.figures.clone(),
                    })
                })
                .collect();
            findings.sort_by(|a, b| b.speedup.total_cmp(&a.speedup));
            NamedMachine {
                machine: m.machine.clone(),
                baseline: m.baseline.clone(),
                advised: m.advised.clone(),
                speedup: m.speedup,
                findings,
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
            machines: machines.collect(),
            notes: report.run.notes.clone(),
        }
    }
}

impl Report {
    /// Puts predicted gains beside the findings and the finding that gains most on any machine
    /// first; without a prediction the order stays.
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
                    speedup: effect.speedup,
                });
            }
        }
        let best = |f: &NamedFinding| {
            let speedups = f.predicted.iter().map(|p| p.speedup);
            speedups.fold(f64::NEG_INFINITY, f64::max)
        };
        self.findings.sort_by(|a, b| best(b).total_cmp(&best(a)));
    }
}
