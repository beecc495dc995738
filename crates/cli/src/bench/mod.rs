//! `prestore bench`.

mod args;

use std::process::{Command, ExitCode};

use indicatif::{ProgressBar, ProgressStyle};
use prestore_bench::{Plan, Results, execute, program_main, render};

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{host, output};

pub use args::{BenchArgs, ProgramArgs};

/// The hidden verb whose process is a workload.
pub const PROGRAM_VERB: &str = "bench-program";

/// Runs the workloads with each operation and prints how they compare.
pub fn run(args: &BenchArgs) -> Result<ExitCode, CliError> {
    let plan = Plan::of(&args.options()).map_err(|e| CliError::Usage(e.to_string()))?;
    let this = std::env::current_exe()
        .map_err(|e| CliError::Failed(format!("this executable cannot be found: {e}")))?;
    let bar = progress_bar(args.quiet);
    let cases = prestore_bench::run(
        &plan,
        |case, variant| {
            let mut command = Command::new(&this);
            command.args([PROGRAM_VERB, case.program.name(), "--"]);
            execute(command, case.program, &case.arguments(variant))
        },
        |step| {
            bar.set_length(step.total as u64);
            bar.set_position(step.done as u64);
            bar.set_message(format!(
                "{} {} B, {} threads: {}",
                step.case.program.name(),
                step.case.size,
                step.case.threads,
                step.variant
            ));
        },
    )
    .map_err(|e| CliError::Failed(e.to_string()));
    bar.finish_and_clear();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let results = Results::of(host::host().cpu, cpus, plan.runs, cases?);
    match args.format {
        PlainFormat::Json => output::print_json(&results)?,
        PlainFormat::Text => output::print(&render(&results))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Is a workload: the rest of this process is its `main`.
pub fn program(args: &ProgramArgs) -> ! {
    std::process::exit(program_main(args.program, &args.arguments))
}

fn progress_bar(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos}/{len} runs, {eta} left   {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
