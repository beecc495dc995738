//! The same comparison on machines of today.

use prestore_machine::Machine;
use prestore_modes::Mode;
use serde_json::json;

use super::modes::Programs;
use super::structures::arguments;
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::report::Report;

/// Machines with flushes that P1's did not have.
const MACHINES: [&str; 4] = ["machine-a", "spr-cxl-dram", "cxl-ssd", "grace"];
/// Programs, and how the copies of the list become persistent.
const PROGRAMS: [(&str, &str); 5] = [
    ("modes_array", ""),
    ("modes_queue", ""),
    ("modes_hash", ""),
    ("modes_cowlist", "--persist=each"),
    ("modes_cowlist", "--persist=tracked"),
];
/// What a program is written with, and the memory that it has then.
const WAYS: [(&str, &str, Mode); 8] = [
    ("clflush", "clflush", Mode::WriteBack),
    ("clflushopt", "clflushopt", Mode::WriteBack),
    ("clwb", "clwb", Mode::WriteBack),
    ("demote", "demote", Mode::WriteBack),
    ("NT", "nt", Mode::NonTemporal),
    ("WT", "order", Mode::WriteThrough),
    ("WC", "fence", Mode::WriteCombining),
    ("UC", "order", Mode::Uncacheable),
];

/// `p1-today`: nothing published stands beside it.
#[derive(Debug)]
pub struct Today;

impl Experiment for Today {
    fn name(&self) -> &'static str {
        "p1-today"
    }

    fn about(&self) -> &'static str {
        "caching modes: P1's programs with today's flushes on today's machines"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let source =
            "P1, section 5: \"these results may change\" with a flush that does not invalidate";
        let mut report = Report::new(self.name(), source);
        let mut programs = Programs::with_threads(&lab);
        let mut table = Vec::new();
        for name in MACHINES {
            let machine = Machine::find(name)?;
            for (program, more) in PROGRAMS {
                let arguments = format!(
                    "{} {more}",
                    arguments(program, |full| (lab.count(full) / 2).max(1))
                );
                let mut times = Vec::new();
                for (way, form, mode) in WAYS {
                    // Under weak ordering the order of stores needs a fence, which write-combining's program has.
                    let weak = machine.core.memory_model == prestore_machine::MemoryModel::Weak;
                    let form = if weak && form == "order" {
                        "fence"
                    } else {
                        form
                    };
                    if mode.possible_on(&machine).is_ok() {
                        let seconds =
                            programs.seconds((program, &arguments, form), &machine, mode)?;
                        times.push((way, seconds));
                    }
                }
                let clwb = times.iter().find(|(way, _)| *way == "clwb");
                let clwb = clwb.map_or(f64::NAN, |(_, seconds)| *seconds);
                let name_of = format!("{program} {more}").trim().to_owned();
                let said = times
                    .iter()
                    .map(|(way, s)| format!("{way} {:.2}", s / clwb));
                let said: Vec<String> = said.collect();
                report.notes.push(format!(
                    "{name}, {name_of}: time by clwb's: {}",
                    said.join(", ")
                ));
                let by_clwb: serde_json::Map<_, _> = (times.iter())
                    .map(|(way, s)| ((*way).to_owned(), json!(s / clwb)))
                    .collect();
                table.push(json!({ "machine": name, "program": name_of, "by_clwb": by_clwb }));
            }
        }
        report.more.insert("today".to_owned(), table.into());
        Ok(report)
    }
}
