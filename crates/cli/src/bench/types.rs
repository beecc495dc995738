//! `prestore bench --types`.

use std::process::ExitCode;

use prestore_bench::{bench_types, render_types};

use super::BenchArgs;
use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{host, output};

/// Measures memory of each type and prints the figures.
pub fn run(args: &BenchArgs) -> Result<ExitCode, CliError> {
    let results = bench_types(host::cpu(), args.runs)
        .map_err(|error| CliError::Usage(format!("no memory type can be measured: {error}")))?;
    match args.format {
        PlainFormat::Json => output::print_json(&results)?,
        PlainFormat::Text => output::print(&render_types(&results))?,
    }
    Ok(ExitCode::SUCCESS)
}
