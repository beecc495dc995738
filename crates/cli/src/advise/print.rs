//! An analysis, named and printed.

use prestore_dirtbuster::{Findings, Outcome, Thresholds};
use prestore_report::{
    DiskSources, Report, Run, Sources, TextOptions, ThreadTotals, report_text, to_sarif,
};

use prestore_sim::Interest;
use prestore_trace::container::Trace;
use prestore_whatif::Advice;

use crate::args::{AdviseArgs, Format};
use crate::error::CliError;
use crate::naming::Namer;
use crate::{host, notice, output, whatif};

/// What is known of a run before it was analysed.
pub fn about(args: &AdviseArgs, scope: &str) -> Run {
    let engine = host::engine();
    Run {
        command: args
            .command
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect(),
        last_level_cache: host::last_level_cache(),
        demoting: host::demoting(),
        cwd: std::env::current_dir()
            .ok()
            .map(|d| d.display().to_string()),
        engine: format!("{} {}", engine.name, engine.version),
        scope: scope.to_owned(),
        ..Run::default()
    }
}

/// Prints the findings in the form asked for. With `trace`, the recording they are of, gains are
/// predicted where that is asked.
pub fn findings(
    args: &AdviseArgs,
    mut about: Run,
    mut analysis: Outcome<Namer>,
    thresholds: Thresholds,
    trace: Option<&Trace>,
) -> Result<(), CliError> {
    about.threads = analysis
        .threads
        .iter()
        .map(|t| ThreadTotals {
            process: t.process.0,
            thread: t.thread.0,
            instructions: t.instructions,
            stores: t.stores,
            loads: t.loads,
            fences: t.fences,
        })
        .collect();
    about.predicts_for = host::calibrated()
        .filter(|machine| about.threads.len() as u64 <= u64::from(machine.core.count))
        .map(|machine| machine.name.clone());
    let mut namer = analysis.oracle;
    namer.leave_loader_alone(&mut analysis.findings);
    let least = thresholds.min_write_time;
    let mut report = Report::new(&analysis.findings, about, least, &mut namer);
    report.run.notes.extend(namer.notes());
    // What was found is printed in any case.
    let predicted = match trace.filter(|_| !args.machines.is_empty()) {
        Some(trace) => gains(args, trace, &analysis.findings, &mut report),
        None => Ok(()),
    };
    print(args, &report)?;
    predicted.map_err(|error| CliError::Usage(format!("no gain is predicted: {error}")))
}

/// Adds what following the advice would gain.
fn gains(
    args: &AdviseArgs,
    trace: &Trace,
    findings: &Findings,
    report: &mut Report,
) -> Result<(), CliError> {
    let machines = whatif::machines(&args.machines, &[])?;
    whatif::can_simulate(trace, &machines, args.lenient)?;
    let asked = whatif::Asked {
        interest: Interest::All,
        limit: args.limit,
        sample: None,
        seed: 1,
        simulations: args.simulations,
        all_together: false,
        lenient: args.lenient,
        independent_loads: false,
        debug_dirs: args.debug_dir.clone(),
        quiet: args.run.quiet,
    };
    let advice = Advice::of_this_run(findings);
    report.predict(&whatif::predict(trace, &machines, &advice, &asked)?);
    Ok(())
}

fn print(args: &AdviseArgs, report: &Report) -> Result<(), CliError> {
    match args.format {
        Format::Json => output::print_json(report),
        Format::Sarif => {
            let left_out = report.advice_without_line();
            if left_out > 0 {
                notice::tell(&output::not_in_sarif(left_out));
            }
            output::print_json(&to_sarif(report))
        }
        Format::Text => {
            let mut options = TextOptions::for_stdout();
            options.left_alone_in_full = args.all;
            let disk = DiskSources::default();
            let sources: Option<&dyn Sources> = args.annotate.then_some(&disk);
            output::print(&report_text(report, options, sources))
        }
    }
}
