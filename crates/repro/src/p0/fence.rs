//! Listing 2 on machine B: a write, reads, a fence.

use prestore_machine::Machine;
use prestore_trace::container::Trace;

use super::{FILE, MEASURED, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// Reads between write and fence.
const READS: [u64; 9] = [0, 10, 20, 40, 80, 160, 320, 640, 2560];

/// `p0-fig-5`.
#[derive(Debug)]
pub struct Fence;

impl Experiment for Fence {
    fn name(&self) -> &'static str {
        "p0-fig-5"
    }

    fn about(&self) -> &'static str {
        "demote before a fence: listing 2 on machine B"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let iters = lab.count(8_000);
        let mut recorded: Vec<(u64, Trace, Trace)> = Vec::new();
        for reads in READS {
            let record = |op: &str| {
                let arguments = format!("--elements=2M --iters={iters} --reads={reads} --op={op}");
                lab.record(&Run::new("listing2", &arguments))
            };
            recorded.push((reads, record("none")?, record("demote")?));
        }
        let mut peaks = Vec::new();
        for (short, name) in [("fast", "machine-b-fast"), ("slow", "machine-b-slow")] {
            let machine = Machine::find(name)?;
            let mut curve: Vec<(u64, f64)> = Vec::new();
            for (reads, none, demote) in &recorded {
                let none = lab.simulate(none, &machine, MEASURED)?;
                let demote = lab.simulate(demote, &machine, MEASURED)?;
                curve.push((*reads, times(&none, &demote)));
            }
            let (first, last) = (curve[0].1, curve[curve.len() - 1].1);
            let peak = (curve.iter().copied()).fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
            sheet.ours(&format!("{short}-0"), first)?;
            sheet.ours(&format!("{short}-most"), peak.1)?;
            sheet.ours(&format!("{short}-many"), last)?;
            let points = curve.iter().map(|(reads, by)| format!("{reads}: {by:.2}"));
            sheet.note(format!(
                "{name}, speed-up by reads: {}",
                points.collect::<Vec<_>>().join(", ")
            ));
            peaks.push(peak.0 as f64);
        }
        sheet.ours("order", peaks[1] / peaks[0].max(1.0))?;
        sheet.finish()
    }
}
