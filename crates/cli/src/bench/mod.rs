//! `prestore bench`.

mod args;
mod busy;
mod predict;
mod types;

use std::path::Path;
use std::process::{Command, ExitCode};

use indicatif::{ProgressBar, ProgressStyle};
use prestore_bench::{
    Case, HostAccuracy, Plan, Results, Step, Variant, execute, program_main, render,
};

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{accuracy, host, interrupt, output};

use busy::Busy;

pub use args::{BenchArgs, ProgramArgs};

/// The hidden verb whose process is a workload.
pub const PROGRAM_VERB: &str = "bench-program";

/// Runs the workloads with each operation and prints how they compare.
pub fn run(args: &BenchArgs) -> Result<ExitCode, CliError> {
    if args.types {
        return types::run(args);
    }
    let plan = Plan::of(&args.options()).map_err(|e| CliError::Usage(e.to_string()))?;
    let this = std::env::current_exe()
        .map_err(|e| CliError::Failed(format!("this executable cannot be found: {e}")))?;
    // Before minutes of measuring.
    let mut machine = args
        .predict
        .then(|| predict::machine(&args.machine, &plan))
        .transpose()?;
    if args.predict {
        interrupt::end_at_once()?;
    }
    let is_host = args.predict && args.machine == host::HOST;
    let mut between_cores = Vec::new();
    let bar = progress_bar(args.quiet);
    let mut busy = Busy::default();
    let cases = prestore_bench::run(
        &plan,
        |case, variant| {
            if is_host && case.threads > 1 {
                between_cores.extend(predict::between_cores());
            }
            busy.undisturbed(|| {
                let command = program_command(&this, case);
                execute(command, case.program, &case.arguments(variant))
            })
        },
        |step| show(&bar, "", step),
    )
    .map_err(|e| CliError::Failed(e.to_string()))?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results = Results::of(host::cpu(), cpus, plan.runs, cases);
    results.warnings.extend(busy.told());
    if let Some(machine) = &mut machine {
        let between_cores = predict::with_cores_as_now(machine, &between_cores);
        let simulate =
            |case: &Case, variant: Variant| predict::seconds(&this, machine, case, variant);
        prestore_bench::predict(&plan, &mut results, &machine.name, simulate, |step| {
            show(&bar, "simulated ", step);
        })?;
        if let Some(prediction) = &mut results.prediction {
            prediction.between_cores = between_cores;
        }
        if let Some(found) = HostAccuracy::of(&results).filter(|_| is_host) {
            accuracy::keep(&found);
        }
    }
    bar.finish_and_clear();
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

/// A command that ends in [`program`], without the program's arguments.
fn program_command(this: &Path, case: &Case) -> Command {
    let mut command = Command::new(this);
    command.args([PROGRAM_VERB, case.program.name(), "--"]);
    command
}

fn show(bar: &ProgressBar, how: &str, step: Step<'_>) {
    bar.set_length(step.total as u64);
    bar.set_position(step.done as u64);
    bar.set_message(format!(
        "{how}{} {} B, {} threads: {}",
        step.case.program.name(),
        step.case.size,
        step.case.threads,
        step.variant
    ));
}

fn progress_bar(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos}/{len} runs, {eta} left   {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
