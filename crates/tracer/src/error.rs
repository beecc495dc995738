//! What can go wrong between the user's command and the first event.

use std::io;
use std::path::PathBuf;

use prestore_symbols::InspectError;
use thiserror::Error;

use crate::EngineError;

/// Why a program could not be recorded, or its recording was not finished.
#[derive(Debug, Error)]
pub enum RecordError {
    /// No command was given.
    #[error("no program was given: put it behind `--`, as in `prestore advise -- ./my-program`")]
    NoCommand,
    /// The program's file is missing or not one that can be traced.
    #[error(transparent)]
    Program(#[from] InspectError),
    /// The interpreter that a script names is missing, or cannot be traced.
    #[error("{}: its interpreter (#!) cannot be run: {error}", script.display())]
    Interpreter {
        /// The script.
        script: PathBuf,
        /// What is wrong with the interpreter.
        error: InspectError,
    },
    /// A name without a slash is nowhere on PATH.
    #[error("{name}: no such program on PATH; give its path, as in ./{name}")]
    NotOnPath {
        /// The name.
        name: String,
    },
    /// Interpreters that are scripts themselves, too deep.
    #[error("{}: its interpreter is a script, whose interpreter is a script, …; \
             name a binary interpreter", path.display())]
    ScriptLoop {
        /// The script.
        path: PathBuf,
    },
    /// The engine is missing.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The shared buffers cannot be made.
    #[error("the shared buffers cannot be made: {0}; free space in /dev/shm or set TMPDIR")]
    Session(io::Error),
    /// The program could not be started.
    #[error("{}: cannot be started: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It ended before the client in it said anything.
    #[error("{}: ended before its recording began ({status}); if it runs without prestore, \
             please report it with the messages above", program.display())]
    NotInstrumented {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
    },
    /// The user asked it to end, and it did before the client in it said anything.
    #[error("{}: was ended ({status}) before its recording began", program.display())]
    Stopped {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
    },
    /// It is one that runs without the engine.
    #[error("nothing was recorded: {0}")]
    Native(crate::Note),
    /// The block log of a process contradicts itself.
    #[error(
        "the recording of process {pid} is damaged: {cause}; this is a defect of prestore, \
             please report it"
    )]
    Damaged {
        /// The process.
        pid: u32,
        /// What was found.
        cause: String,
    },
    /// Reading the shared buffers failed.
    #[error("reading the shared buffers failed: {0}")]
    Channel(io::Error),
    /// What was to take the events did not.
    #[error(transparent)]
    Sink(#[from] crate::SinkError),
}
