//! What the user reads when something went wrong, and the exit code that goes with it.

use std::process::ExitCode;

use prestore_dirtbuster::ThresholdError;
use prestore_machine::MachineError;
use prestore_replay::SourceError;
use prestore_trace::container::{ReadError, WriteError};
use prestore_tracer::RecordError;
use thiserror::Error;

use crate::{interrupt, notice};

/// Exit code: wrong usage or input.
pub const USAGE: u8 = 2;
/// Exit code: the program or its recording failed.
pub const FAILED: u8 = 3;

/// An error that ends the command.
#[derive(Debug, Error)]
pub enum CliError {
    /// Wrong input, in words.
    #[error("{0}")]
    Usage(String),
    /// The recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A recording cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A threshold was set wrongly.
    #[error(transparent)]
    Threshold(#[from] ThresholdError),
    /// There is no such machine, or its description is wrong.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A recording cannot be simulated.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Anything else that went wrong while working.
    #[error("{0}")]
    Failed(String),
    /// The reader of our output went away.
    #[error("output closed")]
    Closed,
}

impl CliError {
    /// Tells the user, and gives the exit code.
    pub fn report(&self) -> ExitCode {
        interrupt::settle();
        if matches!(self, Self::Closed) {
            // A reader that has seen enough (`| head`) is no failure, as with other filters.
            return ExitCode::SUCCESS;
        }
        notice::say(&self.to_string());
        ExitCode::from(match self {
            Self::Usage(_)
            | Self::Threshold(_)
            | Self::Read(_)
            | Self::Machine(_)
            | Self::Source(_)
            | Self::Record(
                RecordError::NoCommand
                | RecordError::Program(_)
                | RecordError::Interpreter { .. }
                | RecordError::NotOnPath { .. }
                | RecordError::ScriptLoop { .. },
            ) => USAGE,
            Self::Record(_) | Self::Write(_) | Self::Failed(_) | Self::Closed => FAILED,
        })
    }
}
