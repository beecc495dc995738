//! Analysis beside the running program: nothing is stored unless asked.

use std::process::ExitCode;

use prestore_dirtbuster::{Analyzer, ProgramTotals, Thresholds};
use prestore_report::Run;
use prestore_trace::SiteTable;
use prestore_tracer::record;

use super::takers::Advisor;
use super::{counted, print, scope};
use crate::args::AdviseArgs;
use crate::error::CliError;
use crate::naming::Namer;
use crate::record::{Progress, Recorder};
use crate::{interrupt, run};

/// Every function's writes.
pub fn all(args: &AdviseArgs, thresholds: Thresholds) -> Result<ExitCode, CliError> {
    let namer = Namer::new(SiteTable::default(), &args.debug_dir);
    analyse(args, thresholds, Analyzer::new(thresholds, namer), "all")
}

/// The writes of chosen functions; where none are named, those that make up most stores, as a
/// first run in scope `count` finds them (P0, section 6.1, step 1).
pub fn functions(args: &AdviseArgs, thresholds: Thresholds) -> Result<ExitCode, CliError> {
    let mut names = args.run.functions.clone();
    let mut totals = None;
    if names.is_empty() {
        let counter = counted::first_run(args)?;
        totals = Some(ProgramTotals {
            instructions: counter.instructions,
            stores: counter.total_stores(),
        });
        names = scope::most_stores(counter, &args.debug_dir);
        eprintln!("prestore: functions that store most: {}", names.join(", "));
    }
    let mut namer = Namer::new(SiteTable::default(), &args.debug_dir);
    let keys = namer.choose(&names);
    let mut analyzer = Analyzer::new(thresholds, namer).with_scope(keys);
    if let Some(totals) = totals {
        analyzer = analyzer.with_totals(totals);
    }
    analyse(args, thresholds, analyzer, "functions")
}

fn analyse(
    args: &AdviseArgs,
    thresholds: Thresholds,
    analyzer: Analyzer<Namer>,
    scope: &str,
) -> Result<ExitCode, CliError> {
    let options = run::options(&args.run, false)?;
    let recorder = match &args.output {
        Some(dir) => Some(Recorder::create(dir, args.force, &args.command, &args.run, false)?),
        None => None,
    };
    let interrupts = interrupt::watch()?;
    let mut advisor = Advisor {
        analyzer,
        recorder,
        progress: Progress::new(args.run.quiet),
    };
    let mut outcome = record(&args.command, &options, &interrupts, &mut advisor)?;
    drop(advisor.progress);
    if let Some(recorder) = advisor.recorder {
        recorder.finish(&outcome)?;
    }
    run::tell_end(outcome.status);
    let mut analysis = advisor.analyzer.finish();
    analysis.oracle.set_sites(std::mem::take(&mut outcome.sites));
    let about = Run {
        program: outcome.program.display().to_string(),
        partial: run::partial(&outcome),
        processes: u64::from(outcome.processes),
        recording: args.output.as_ref().map(|d| d.display().to_string()),
        ..print::about(args, scope)
    };
    if analysis.findings.instructions == 0 {
        return Err(CliError::Failed(format!(
            "nothing was recorded: {}",
            run::why_empty(&args.run)
        )));
    }
    print::findings(args, about, analysis, thresholds)?;
    Ok(run::exit_code(&outcome))
}
