//! `prestore repro [NAME…]`.

mod args;

use std::process::ExitCode;

use prestore_repro::{Options, ReproError, experiments, find, render};

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{interrupt, output};

pub use args::ReproArgs;

/// Runs experiments, or lists them.
pub fn run(args: &ReproArgs) -> Result<ExitCode, CliError> {
    if args.names.is_empty() {
        output::print_list(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    // A name that is wrong is told before hours of work, not after.
    let chosen = (args.names.iter())
        .map(|name| find(name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(cli_error)?;
    let scratch = tempfile::tempdir().map_err(|e| {
        CliError::Failed(format!(
            "no folder for recordings can be made: {e}; set TMPDIR"
        ))
    })?;
    interrupt::takes_along(scratch.path());
    interrupt::end_at_once()?;
    let options = Options {
        seed: args.seed,
        prestore: std::env::current_exe().ok(),
        keep: args.keep.clone(),
        scratch: Some(scratch.path().to_owned()),
        quick: args.quick,
        points: args.points.clone(),
        dimms: args.dimms,
    };
    for experiment in chosen {
        let report = experiment.run(&options).map_err(cli_error)?;
        match args.format {
            PlainFormat::Json => output::print_json(&report)?,
            PlainFormat::Text => output::print(&render(&report))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Vec<(&'static str, String)> {
    let entries = experiments().iter();
    entries.map(|e| (e.name(), e.about().to_owned())).collect()
}

fn cli_error(error: ReproError) -> CliError {
    match error {
        ReproError::Machine(error) => error.into(),
        ReproError::Unknown { .. } | ReproError::Points { .. } => {
            CliError::Usage(error.to_string())
        }
        error => CliError::Failed(error.to_string()),
    }
}
