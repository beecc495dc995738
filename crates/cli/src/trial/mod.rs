//! `prestore try -- CMD`: the advice applied to the program as it runs.
//!
//! `observe` gets the findings, `choose` the stores that belong to them, `rounds` runs the program over and over,
//! `compare` looks whether it does the same, `report` and `text` say what came of it.

mod args;
mod choose;
mod compare;
mod observe;
mod report;
mod rounds;
mod text;

pub use args::TryArgs;

use std::process::ExitCode;

use prestore_report::TextOptions;

use crate::args::PlainFormat;
use crate::error::{CliError, FAILED};
use crate::{output, run};
use report::TryReport;

/// Analyses, tries and prints.
pub fn run(args: &TryArgs) -> Result<ExitCode, CliError> {
    // Wrong commands and files are told before anything runs.
    prestore_tracer::resolve(&args.command)?;
    if let Some(input) = &args.input {
        std::fs::File::open(input)
            .map_err(|e| CliError::Usage(format!("--input {}: {e}", input.display())))?;
    }
    let observed = observe::observe(args)?;
    let failed = observed.ended.filter(|status| !status.success());
    let chosen = match choose::chosen(args, observed) {
        // What a program did that failed is not what there is to try of it.
        Err(error) if failed.is_some() => {
            run::tell_end(failed);
            error.report();
            return Ok(ExitCode::from(FAILED));
        }
        chosen => chosen?,
    };
    let tried = rounds::run(args, &chosen)?;
    let report = TryReport::new(args, &chosen, &tried);
    match args.format {
        PlainFormat::Json => output::print_json(&report)?,
        PlainFormat::Text => output::print(&text::of(&report, TextOptions::for_stdout().width))?,
    }
    run::tell_end(Some(tried.status));
    Ok(match tried.status.success() && report.is_the_same() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FAILED),
    })
}
