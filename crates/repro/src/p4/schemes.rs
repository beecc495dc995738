//! A loop under one scheme: its time and its writes.

use prestore_machine::Machine;
use prestore_sim::Results;

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
    pub(super) fn results(&self, kernel: &str, scheme: &str) -> Result<Results, ReproError> {
        self.measure(kernel, scheme, "--iterations=3 --region=1..2")
    }

    /// The same: what it takes.
    pub(super) fn cost(&self, kernel: &str, scheme: &str) -> Result<Cost, ReproError> {
        Ok(self.cost_of(&self.results(kernel, scheme)?))
    }

    /// Other iterations, or whatever else `arguments` say.
    pub(super) fn measure(
        &self,
        kernel: &str,
        scheme: &str,
        arguments: &str,
    ) -> Result<Results, ReproError> {
        let arguments = format!(
            "--kernel={kernel} --scheme={scheme} --size={} --threads={} {arguments}",
            self.rows, self.threads
        );
        let run = Run::new("recompute_kernels", &arguments);
        self.lab.measure(&run, &self.machine, Some(REGION))
    }

    pub(super) fn cost_of(&self, results: &Results) -> Cost {
        let bytes: u64 = results.memories.iter().map(|m| m.write_bytes).sum();
        Cost {
            seconds: results.seconds,
            writes: bytes as f64 / self.machine.line.0 as f64,
        }
    }
}
