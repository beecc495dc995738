//! A loop under one scheme: its time and its writes.

use prestore_machine::Machine;

use super::MACHINE;
use crate::error::ReproError;
use crate::lab::{Lab, Run};

/// The region of `recompute-kernels`.
const REGION: u64 = 4095;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub seconds: f64,
    /// Lines that the caches wrote to memory: evicted, or flushed while they were dirty.
    pub writes: f64,
}

/// The loops of an experiment, all with so many rows and workers.
pub(super) struct Loops<'l> {
    lab: &'l Lab<'l>,
    machine: Machine,
    rows: u64,
    threads: u64,
}

impl<'l> Loops<'l> {
    /// On P4's machine with a core for each worker and one for the main thread (section 3.3.2).
    pub(super) fn new(lab: &'l Lab<'l>, rows: u64, threads: u64) -> Result<Self, ReproError> {
        let cores = format!("core.count={}", threads + 1);
        Ok(Self {
            lab,
            machine: Machine::find_with(MACHINE, &[&cores])?,
            rows,
            threads,
        })
    }

    /// The second of three iterations, as P4 warms up with one to two and measures about one: where there are checkpoints,
    /// one is taken behind it.
    pub(super) fn cost(&self, kernel: &str, scheme: &str) -> Result<Cost, ReproError> {
        let arguments = format!(
            "--kernel={kernel} --scheme={scheme} --size={} --threads={} --iterations=3 --region=1..2",
            self.rows, self.threads
        );
        let run = Run::new("recompute_kernels", &arguments);
        let results = self.lab.measure(&run, &self.machine, Some(REGION))?;
        let bytes: u64 = results.memories.iter().map(|m| m.write_bytes).sum();
        Ok(Cost {
            seconds: results.seconds,
            writes: bytes as f64 / self.machine.line.0 as f64,
        })
    }
}
