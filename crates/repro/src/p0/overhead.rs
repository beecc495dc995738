//! The advice for machine A followed on machine B.

use prestore_machine::Machine;

use super::{FILE, MEASURED, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// `p0-b-overhead`.
#[derive(Debug)]
pub struct Overhead;

impl Experiment for Overhead {
    fn name(&self) -> &'static str {
        "p0-b-overhead"
    }

    fn about(&self) -> &'static str {
        "clean where it does not help: sequential writes without fences on machine B"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        // Each warm-up writes more than the 16 MiB of the L2.
        let programs = [
            ("stencil", format!("--warmup=4 --steps={}", lab.count(4))),
            ("fft", format!("--warmup=1536 --rows={}", lab.count(1024))),
            (
                "tensor",
                format!(
                    "--warmup=1 --large-count=1 --small-count={}",
                    lab.count(40_000)
                ),
            ),
            (
                "listing1",
                format!(
                    "--elements=64K --warmup=24K --iters={}",
                    lab.count(16 << 10)
                ),
            ),
        ];
        for (program, arguments) in programs {
            let record =
                |op: &str| lab.record(&Run::new(program, &format!("{arguments} --op={op}")));
            let (none, clean) = (record("none")?, record("clean")?);
            for (short, name) in [("fast", "machine-b-fast"), ("slow", "machine-b-slow")] {
                let machine = Machine::find(name)?;
                let none = lab.simulate(&none, &machine, MEASURED)?;
                let clean = lab.simulate(&clean, &machine, MEASURED)?;
                sheet.ours(&format!("{program}-{short}"), times(&clean, &none))?;
            }
        }
        sheet.finish()
    }
}
