//! From the command line to the tracer's options, and from the program's end to words and a code.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use prestore_tracer::{Allocations, Options, Outcome, Region, Scope, Window};

use crate::args::{RunArgs, ScopeArg};
use crate::error::{CliError, FAILED};

/// The tracer's options.
pub fn options(run: &RunArgs, values: bool) -> Result<Options, CliError> {
    Ok(Options {
        scope: match run.scope {
            Some(ScopeArg::Count) => Scope::Count,
            _ => Scope::All,
        },
        values,
        allocations: if run.no_allocations {
            Allocations::Ignored
        } else {
            Allocations::Recorded
        },
        window: Window {
            skip: run.skip,
            take: run.take,
            period: run.period,
        },
        region: region(run.region.as_deref())?,
    })
}

/// Highest region number that the marker macros take.
const MAX_REGION: u16 = 4095;

fn region(text: Option<&str>) -> Result<Region, CliError> {
    match text {
        None => Ok(Region::Everything),
        Some("any") => Ok(Region::Any),
        Some(text) => match text.parse() {
            Ok(id) if id <= MAX_REGION => Ok(Region::Id(id)),
            _ => Err(CliError::Usage(format!(
                "--region {text}: give a region's number (0 to {MAX_REGION}) or 'any'"
            ))),
        },
    }
}

/// Why a recording is not the whole run; `None`: it is.
pub fn partial(outcome: &Outcome) -> Option<String> {
    if let Some(failure) = &outcome.failure {
        return Some(failure.to_string());
    }
    if outcome.interrupted {
        return Some("recording was stopped by the user".into());
    }
    if let Some(signal) = outcome.status.and_then(|s| s.signal()) {
        return Some(format!("the program was killed by signal {signal}"));
    }
    let torn = outcome.torn_threads;
    (torn > 0).then(|| format!("{torn} threads were killed; each is recorded up to that moment"))
}

/// Tells how the program ended if it did not end well.
pub fn tell_end(status: Option<ExitStatus>) {
    match status {
        Some(status) if !status.success() => match status.signal() {
            Some(signal) => eprintln!("prestore: the program was killed by signal {signal}"),
            None => eprintln!(
                "prestore: the program ended with exit code {}",
                status.code().unwrap_or(-1)
            ),
        },
        None => eprintln!("prestore: the program was left running, unrecorded"),
        Some(_) => {}
    }
}

/// The command's exit code: 0, or 3 where the program or its recording failed.
pub fn exit_code(outcome: &Outcome) -> ExitCode {
    let failed = outcome.failure.is_some() || outcome.status.is_some_and(|s| !s.success());
    if failed {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    }
}

/// What to look at when a recording has no access in it.
pub fn why_empty(run: &RunArgs) -> String {
    match &run.region {
        Some(id) if id == "any" => "the program entered no source region".into(),
        Some(id) => format!("the program never entered region {id}"),
        None if run.skip > 0 => format!("the program ended within the {} skipped instructions", run.skip),
        None => "the program made no access in the recorded scope".into(),
    }
}
