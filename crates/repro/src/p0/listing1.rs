//! Listing 1 on machine A: the order of evictions.

use prestore_machine::Machine;
use prestore_sim::Results;

use super::{FILE, MEASURED, amplification, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// Elements of random places of 256 MiB; the caches are full of dirty lines when measuring begins.
fn listing1(lab: &Lab<'_>, size: u64, threads: u64, more: &str) -> Result<Results, ReproError> {
    let machine = Machine::find("machine-a")?;
    // As much as fills L2s and L3.
    let warmup = (48 << 20) / size;
    let iters = lab.count(32 << 20) / size;
    let elements = (256 << 20) / size;
    let run = Run::new(
        "listing1",
        &format!(
            "--size={size} --elements={elements} --threads={threads} --warmup={warmup} \
             --iters={iters} {more}"
        ),
    );
    lab.measure(&run, &machine, MEASURED)
}

/// `p0-fig-3`.
#[derive(Debug)]
pub struct Amplification;

impl Experiment for Amplification {
    fn name(&self) -> &'static str {
        "p0-fig-3"
    }

    fn about(&self) -> &'static str {
        "clean against write amplification: listing 1 on machine A"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        for threads in [1, 2, 5] {
            let none = listing1(&lab, 1024, threads, "--op=none")?;
            let clean = listing1(&lab, 1024, threads, "--op=clean")?;
            sheet.ours(&format!("wa-none-{threads}"), amplification(&none))?;
            sheet.ours(&format!("wa-clean-{threads}"), amplification(&clean))?;
            sheet.ours(&format!("speedup-{threads}"), times(&none, &clean))?;
        }
        sheet.note(
            "no mechanism in the model makes one thread's evictions more orderly than several \
             threads': its hashed L3 evicts the lines of a unit far apart in time for both",
        );
        sheet.finish()
    }
}

/// `p0-listing-1-skip`.
#[derive(Debug)]
pub struct Skip;

impl Experiment for Skip {
    fn name(&self) -> &'static str {
        "p0-listing-1-skip"
    }

    fn about(&self) -> &'static str {
        "skip against clean: listing 1 on machine A, re-read or not"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let clean = listing1(&lab, 1024, 5, "--reread=no --op=clean")?;
        let skip = listing1(&lab, 1024, 5, "--reread=no --op=skip")?;
        sheet.ours("no-reread", times(&clean, &skip))?;
        for size in [64, 128, 256] {
            let clean = listing1(&lab, size, 1, "--op=clean")?;
            let skip = listing1(&lab, size, 1, "--op=skip")?;
            sheet.ours(&format!("reread-{size}"), times(&skip, &clean))?;
        }
        sheet.note(
            "a skipped element costs one wait for its line, however large it is; a cleaned one more \
             the more lines it has: with several threads, or 256 B and more, that evens out",
        );
        sheet.finish()
    }
}
