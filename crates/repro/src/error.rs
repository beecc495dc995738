//! Why an experiment could not be run.

use std::convert::Infallible;
use std::path::PathBuf;

use prestore_machine::MachineError;
use prestore_sim::SimulationError;
use thiserror::Error;

/// Why an experiment could not be run.
#[derive(Debug, Error)]
pub enum ReproError {
    /// No experiment of this name.
    #[error("there is no experiment '{name}'; {meant}there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// A question whether another name was meant, or nothing.
        meant: String,
        /// What there is.
        known: String,
    },
    /// Published figures, part of this program, that are wrong.
    #[error("published figures in {file}: {what}; this is a mistake in the program: report it")]
    Published {
        /// The file in the source tree.
        file: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The machine cannot be had.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A workload could not be recorded, or its recording not be read.
    #[error("recording {what}: {why}")]
    Recording {
        /// The workload, or the folder.
        what: String,
        /// Why.
        why: String,
    },
    /// A recording could not be simulated.
    #[error("simulating {what}: {why}")]
    Replay {
        /// The workload and the machine.
        what: String,
        /// Why.
        why: String,
    },
    /// A file of points that cannot be read.
    #[error("{}{}: {what}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Points {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: Option<u64>,
        /// What is wrong and what to do.
        what: String,
    },
    /// The simulation failed.
    #[error("{what}: {error}")]
    Simulation {
        /// What was simulated.
        what: String,
        /// Why it failed.
        error: Box<SimulationError<Infallible>>,
    },
}
