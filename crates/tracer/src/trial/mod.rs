//! Runs a program with some of its stores changed: nothing is recorded.
//!
//! What the client does is in `client/trial.h`; here is what it is told and what it tells.

mod found;
mod list;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use found::Results;
pub use found::{Fate, Found};

use crate::channel::Session;
use crate::launch::Streams;
use crate::pump::run;
use crate::{Interrupts, Note, Options, RecordError, Scope, Sink};

/// What a store is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Non-temporal.
    Skip,
    /// The line that it leaves is written back, and stays in the cache (`clwb`).
    Clean,
    /// The line that it leaves is moved away from the core (`cldemote`).
    Demote,
}

/// A store instruction of the program, and what to make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `None`: it stays as it is, and is looked for all the same, so that this costs what a change costs.
    pub op: Option<Operation>,
    /// Stores of one group may become visible to others in any order, when they are made non-temporal; all
    /// else keeps its order.
    pub group: u32,
    /// Path of the module it is in.
    pub module: String,
    /// Address in the terms of the module's own symbol table, as in [`Site`](prestore_trace::Site).
    pub offset: u64,
}

/// One run.
#[derive(Debug)]
pub struct Trial<'a> {
    /// What to change.
    pub changes: &'a [Change],
    /// Look before each store whether it has to wait for non-temporal ones, once a process has more threads than
    /// one or shares memory. Needed where `changes` skips; a run without changes that is compared with such a one is
    /// to do the same.
    pub keeps_order: bool,
    /// The program's standard input; `None`: nothing.
    pub stdin: Option<&'a Path>,
    /// Takes the program's standard output, from its present position on.
    pub stdout: &'a File,
    /// Takes its standard error, and what the engine says.
    pub stderr: &'a File,
}

/// How a run ended.
#[derive(Debug)]
pub struct Tried {
    /// The program's exit status; `None`: it was left running.
    pub status: Option<ExitStatus>,
    /// The user wanted it to end.
    pub interrupted: bool,
    /// From the program's first instruction to the end of its last process; with the engine's translation, without
    /// its start.
    pub time: Duration,
    /// Processor time of its processes in that time.
    pub cpu: Duration,
    /// Fences executed that the program does not have, but for those before system calls.
    pub fences: u64,
    /// What became of each of [`Trial::changes`].
    pub found: Vec<Found>,
    /// What was not run under the engine, and why.
    pub notes: Vec<Note>,
}

/// Takes nothing.
struct Nothing;

impl Sink for Nothing {}

/// Runs `command` once.
///
/// # Errors
/// [`RecordError`] where it could not be run under the engine.
pub fn trial(
    command: &[OsString],
    trial: &Trial<'_>,
    interrupts: &Interrupts,
) -> Result<Tried, RecordError> {
    let session = Session::create().map_err(RecordError::Session)?;
    list::write(&session, trial).map_err(RecordError::Session)?;
    let results = Results::create(&session, trial.changes.len()).map_err(RecordError::Session)?;
    let streams = streams(trial).map_err(RecordError::Session)?;
    let options = Options {
        scope: Scope::Trial,
        ..Options::default()
    };
    let outcome = run(
        session,
        streams,
        command,
        &options,
        interrupts,
        &mut Nothing,
    )?;
    Ok(Tried {
        status: outcome.status,
        interrupted: outcome.interrupted,
        time: results.time().unwrap_or(outcome.elapsed),
        cpu: results.cpu(),
        fences: results.fences(),
        found: results.found(),
        notes: outcome.notes,
    })
}

fn streams(trial: &Trial<'_>) -> io::Result<Streams> {
    Ok(Streams {
        stdin: match trial.stdin {
            Some(path) => File::open(path)?.into(),
            None => Stdio::null(),
        },
        stdout: trial.stdout.try_clone()?.into(),
        stderr: trial.stderr.try_clone()?.into(),
    })
}
