//! The key-value store, in the place of P0's CLHT, under YCSB A.

use prestore_machine::Machine;
use prestore_sim::Results;

use super::{FILE, MEASURED, amplification, times};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::{Lab, Run};
use crate::published::Sheet;
use crate::report::Report;

/// Values of `size` bytes, 10 threads as published. Half of the requests write a value; the warm-up
/// writes 48 MiB, enough to fill L2s and L3.
fn run(lab: &Lab<'_>, size: u64, op: &str) -> Run {
    let warmup = 2 * (48 << 20) / size;
    let ops = lab.count(32 << 20) / size;
    let keys = (64 << 20) / size;
    Run::new(
        "kv",
        &format!(
            "--workload=A --threads=10 --value-size={size} --keys={keys} --warmup={warmup} \
             --ops={ops} --op={op}"
        ),
    )
}

fn on_a(lab: &Lab<'_>, size: u64, op: &str) -> Result<Results, ReproError> {
    lab.measure(&run(lab, size, op), &Machine::find("machine-a")?, MEASURED)
}

/// `p0-kv-a`.
#[derive(Debug)]
pub struct Kv;

impl Experiment for Kv {
    fn name(&self) -> &'static str {
        "p0-kv-a"
    }

    fn about(&self) -> &'static str {
        "clean and skip: a key-value store with large values on machine A"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let [none, clean, skip] = ["none", "clean", "skip"].map(|op| on_a(&lab, 1024, op));
        let (none, clean, skip) = (none?, clean?, skip?);
        sheet.ours("wa-none", amplification(&none))?;
        sheet.ours("wa-clean", amplification(&clean))?;
        sheet.ours("wa-skip", amplification(&skip))?;
        sheet.ours("clean", times(&none, &clean))?;
        sheet.ours("skip", times(&none, &skip))?;
        sheet.note("64 Ki keys where P0 has 100 M: both are far beyond the caches");
        sheet.finish()
    }
}

/// `p0-kv-a-128`.
#[derive(Debug)]
pub struct KvSmall;

impl Experiment for KvSmall {
    fn name(&self) -> &'static str {
        "p0-kv-a-128"
    }

    fn about(&self) -> &'static str {
        "clean: a key-value store with small values on machine A"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let (none, clean) = (on_a(&lab, 128, "none")?, on_a(&lab, 128, "clean")?);
        sheet.ours("wa", amplification(&clean) / amplification(&none))?;
        sheet.ours("clean", times(&none, &clean))?;
        sheet.finish()
    }
}

/// `p0-fig-13`.
#[derive(Debug)]
pub struct KvFence;

impl Experiment for KvFence {
    fn name(&self) -> &'static str {
        "p0-fig-13"
    }

    fn about(&self) -> &'static str {
        "clean before a lock: a key-value store on machine B"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let requests = lab.count(20_000);
        let record = |op: &str| {
            let arguments = format!(
                "--workload=A --threads=10 --value-size=1024 --keys=32K --warmup={requests} \
                 --ops={requests} --op={op}"
            );
            lab.record(&Run::new("kv", &arguments))
        };
        let (none, clean) = (record("none")?, record("clean")?);
        let speedup = |machine: &str| -> Result<f64, ReproError> {
            let machine = Machine::find(machine)?;
            let none = lab.simulate(&none, &machine, MEASURED)?;
            Ok(times(&none, &lab.simulate(&clean, &machine, MEASURED)?))
        };
        let (fast, slow) = (speedup("machine-b-fast")?, speedup("machine-b-slow")?);
        sheet.ours("fast", fast)?;
        sheet.ours("order", slow / fast)?;
        sheet.finish()
    }
}
