//! `prestore repro [NAME…]`.

mod args;

use std::process::ExitCode;

use prestore_repro::{Options, ReproError, experiments, find, render};

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::output;

pub use args::ReproArgs;

/// Runs experiments, or lists them.
pub fn run(args: &ReproArgs) -> Result<ExitCode, CliError> {
    if args.names.is_empty() {
        output::print(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    // A name that is wrong is told before hours of work, not after.
    let chosen = (args.names.iter())
        .map(|name| find(name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(cli_error)?;
    let options = Options {
        seed: args.seed,
        prestore: std::env::current_exe().ok(),
        keep: args.keep.clone(),
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

fn list() -> String {
    let all = experiments();
    let width = all.iter().map(|e| e.name().len()).max().unwrap_or(0);
    all.iter()
        .map(|e| format!("{:width$}  {}\n", e.name(), e.about()))
        .collect()
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
