//! Listing 3 on machine A: a pre-store that only harms.

use prestore_machine::Machine;

use super::{FILE, MEASURED, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// The processor's greatest clock; P0 names the base clock and does not say that turbo was off.
const TURBO: &str = "core.clock=3.9 GHz";

/// `p0-listing-3`.
#[derive(Debug)]
pub struct Rewritten;

impl Experiment for Rewritten {
    fn name(&self) -> &'static str {
        "p0-listing-3"
    }

    fn about(&self) -> &'static str {
        "one line rewritten and cleaned all the time: listing 3 on machine A"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let iters = lab.count(100_000);
        let none = lab.record(&Run::new("listing3", &format!("--iters={iters} --op=none")))?;
        let clean = lab.record(&Run::new(
            "listing3",
            &format!("--iters={iters} --op=clean"),
        ))?;
        let slowdown = |settings: &[&str]| -> Result<f64, ReproError> {
            let machine = Machine::find_with("machine-a", settings)?;
            let none = lab.simulate(&none, &machine, MEASURED)?;
            Ok(times(&lab.simulate(&clean, &machine, MEASURED)?, &none))
        };
        sheet.ours("slowdown", slowdown(&[TURBO])?)?;
        sheet.note(format!(
            "with {TURBO}, which a single busy core of this processor may reach (Intel ARK): the loop \
             runs in the L1, so its time is the clock's and the clean's is not; at the 2.1 GHz that \
             P0 names, {:.0}; there and where clwb drops the line, as is reported of this generation, \
             {:.0}",
            slowdown(&[])?,
            slowdown(&["core.clwb_retains=false"])?,
        ));
        sheet.finish()
    }
}
