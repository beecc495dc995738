//! Messages on machine B.

use prestore_machine::Machine;

use super::FILE;
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// `p0-ring`.
#[derive(Debug)]
pub struct Ring;

impl Experiment for Ring {
    fn name(&self) -> &'static str {
        "p0-ring"
    }

    fn about(&self) -> &'static str {
        "demote before a compare-and-swap: the latency of messages on machine B"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let messages = lab.count(10_000);
        // One slot: a message never waits behind others, so its latency is its own.
        let record = |op: &str, more: &str| {
            let arguments = format!("--slots=1 --messages={messages} --op={op} {more}");
            lab.record(&Run::new("ring", &arguments))
        };
        let ways = [
            ("messages are filled in the slot", String::new()),
            ("one message, copied into it", "--copy=yes".into()),
            (
                "a new message each time, copied into it",
                format!("--copy=yes --structures={messages}"),
            ),
        ];
        for (way, (about, more)) in ways.iter().enumerate() {
            let (none, demote) = (record("none", more)?, record("demote", more)?);
            for (short, name) in [("fast", "machine-b-fast"), ("slow", "machine-b-slow")] {
                let machine = Machine::find(name)?;
                // The region is the message's making, so all of the run is asked for.
                let none = lab.simulate(&none, &machine, None)?.messages.mean_ns;
                let demote = lab.simulate(&demote, &machine, None)?.messages.mean_ns;
                let ratio = demote / none;
                if way == 0 {
                    sheet.ours(short, ratio)?;
                }
                sheet.note(format!(
                    "{name}, {about}: {none:.0} ns without, {demote:.0} ns with demote ({ratio:.2})"
                ));
            }
        }
        sheet.note("the number of lines that a fence drains at once was fitted to B-fast's figure");
        sheet.finish()
    }
}
