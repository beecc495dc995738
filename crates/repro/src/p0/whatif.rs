//! Is what `prestore whatif` predicts what changing the source does?

use std::ffi::{OsStr, OsString};
use std::path::Path;

use prestore_machine::Machine;
use prestore_sim::Results;
use serde_json::Value;

use super::{MEASURED, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::report::{Report, Row};

/// How far a prediction may be off.
const TOLERANCE: f64 = 0.1;

/// A change of a program's source.
struct Change {
    program: &'static str,
    /// All arguments but the operation.
    arguments: String,
    op: &'static str,
    /// How the changed source does it, where an operation can be written in several ways.
    way: Option<&'static str>,
    /// The functions whose findings the change follows.
    functions: &'static [&'static str],
    machines: &'static [&'static str],
    gain: Gain,
}

/// What the change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gain {
    /// Time of region 1.
    Time,
    /// A message's latency.
    Latency,
}

const A: &[&str] = &["machine-a"];
const B: &[&str] = &["machine-b-fast", "machine-b-slow"];

fn changes(lab: &Lab<'_>) -> Vec<Change> {
    let listing1 = |op, more: &str| Change {
        program: "listing1",
        arguments: format!(
            "--size=1024 --elements=256K --threads=5 --warmup=48K --iters={} {more}",
            lab.count(16 << 10)
        ),
        op,
        way: None,
        functions: &["write_element"],
        machines: A,
        gain: Gain::Time,
    };
    let kv = |op, machines, warmup| Change {
        program: "kv",
        arguments: format!(
            "--workload=A --threads=10 --value-size=1024 --keys=64K --warmup={warmup} --ops={}",
            lab.count(20_000)
        ),
        op,
        way: (op == "skip").then_some("writer"),
        functions: &["craft_value"],
        machines,
        gain: Gain::Time,
    };
    let ring = |op| Change {
        program: "ring",
        arguments: format!("--slots=1 --messages={}", lab.count(10_000)),
        op,
        way: None,
        functions: &["fill_msg"],
        machines: B,
        gain: Gain::Latency,
    };
    // The warm-up fills L2s and L3: 6 MiB a step.
    let stencil = |op, functions| Change {
        program: "stencil",
        arguments: format!("--threads=4 --warmup=8 --steps={}", lab.count(4)),
        op,
        way: (op == "skip").then_some("writer"),
        functions,
        machines: A,
        gain: Gain::Time,
    };
    vec![
        listing1("clean", "--reread=yes"),
        listing1("clean", "--reread=no"),
        listing1("skip", "--reread=no"),
        kv("clean", A, 96 << 10),
        kv("skip", A, 96 << 10),
        kv("clean", B, 20_000),
        ring("demote"),
        ring("clean"),
        stencil("clean", &["resid", "psinv"]),
        stencil("skip", &["psinv"]),
    ]
}

/// `p0-whatif`.
#[derive(Debug)]
pub struct WhatIf;

impl Experiment for WhatIf {
    fn name(&self) -> &'static str {
        "p0-whatif"
    }

    fn about(&self) -> &'static str {
        "what `prestore whatif` predicts against the changed source, both simulated"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let source = "nothing published: `published` is the gain of the changed source, recorded \
                      and simulated; `ours` is the gain predicted from the unchanged program";
        let mut report = Report::new(self.name(), source);
        for change in changes(&lab) {
            report.rows.extend(change.rows(&lab)?);
        }
        Ok(report)
    }
}

impl Change {
    fn run(&self, op: &str) -> Run {
        Run::new(self.program, &format!("{} --op={op}", self.arguments))
    }

    /// A row a machine.
    fn rows(&self, lab: &Lab<'_>) -> Result<Vec<Row>, ReproError> {
        let (before, after) = (self.run("none"), self.run(self.op));
        let (unchanged, changed) = (lab.record(&before)?, lab.record(&after)?);
        let predicted = self.predicted(lab, &lab.folder(&before))?;
        let mut rows = Vec::new();
        for (&name, predicted) in self.machines.iter().zip(predicted) {
            let machine = Machine::find(name)?;
            let region = (self.gain == Gain::Time).then_some(MEASURED).flatten();
            let unchanged = lab.simulate(&unchanged, &machine, region)?;
            let changed = lab.simulate(&changed, &machine, region)?;
            let label = format!("{} {}, {} on {name}", self.program, self.arguments, self.op);
            let metric = match self.gain {
                Gain::Time => "speed-up",
                Gain::Latency => "message's latency without by with",
            };
            let gained = self.gain.of(&unchanged, &changed);
            rows.push(Row::relative(label, metric, gained, predicted, TOLERANCE));
        }
        Ok(rows)
    }

    /// The gain that `prestore whatif` predicts for each machine.
    fn predicted(&self, lab: &Lab<'_>, dir: &Path) -> Result<Vec<f64>, ReproError> {
        let wrong = |why: &str| ReproError::Recording {
            what: format!("what if {} {}, {}", self.program, self.arguments, self.op),
            why: why.to_owned(),
        };
        let advice = lab.json(&[OsStr::new("advise"), dir.as_os_str()])?;
        let findings = self.findings(&advice);
        if findings.is_empty() {
            return Err(wrong("none of its findings is in the functions to change"));
        }
        let mut words: Vec<OsString> = vec!["whatif".into(), dir.into()];
        words.extend(["--machine".into(), self.machines.join(",").into()]);
        words.extend(["--seed".into(), lab.seed().to_string().into()]);
        words.extend(["--op".into(), self.op.into()]);
        words.extend(["--simulations".into(), "1".into()]);
        if let Some(way) = self.way {
            words.extend(["--way".into(), way.into()]);
        }
        for number in findings {
            words.extend(["--finding".into(), number.to_string().into()]);
        }
        if let (Gain::Time, Some(region)) = (self.gain, MEASURED) {
            words.extend(["--region".into(), region.to_string().into()]);
        }
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let told = lab.json(&words)?;
        let gains = self.machines.iter().enumerate().map(|(i, name)| {
            let machine = &told["machines"][i];
            let gain = self.gain.told(machine);
            gain.ok_or_else(|| wrong(&format!("prestore whatif says nothing of {name}")))
        });
        gains.collect()
    }

    /// Numbers of the findings to change, from 1.
    fn findings(&self, advice: &Value) -> Vec<usize> {
        let all = advice["findings"].as_array().into_iter().flatten();
        let named = all.enumerate().filter(|(_, finding)| {
            let function = finding["function"].as_str().unwrap_or_default();
            self.functions.contains(&function) && finding["verdict"] != "leave-alone"
        });
        named.map(|(index, _)| index + 1).collect()
    }
}

impl Gain {
    /// Between two runs.
    fn of(self, before: &Results, after: &Results) -> f64 {
        match self {
            Self::Time => times(before, after),
            Self::Latency => before.messages.mean_ns / after.messages.mean_ns,
        }
    }

    /// Of a machine in `prestore whatif`'s JSON.
    fn told(self, machine: &Value) -> Option<f64> {
        match self {
            Self::Time => machine["speedup"].as_f64(),
            Self::Latency => {
                let mean = |run: &str| machine[run]["message_ns"].as_f64();
                Some(mean("baseline")? / mean("advised")?)
            }
        }
    }
}
