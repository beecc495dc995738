//! Analysis beside the running program: nothing is stored unless asked.

use std::process::ExitCode;

use prestore_dirtbuster::{Analyzer, Thresholds};
use prestore_report::Run;
use prestore_trace::SiteTable;
use prestore_trace::container::NamedCode;
use prestore_tracer::{Bursts, record};

use super::takers::Advisor;
use super::{chosen_code, print};
use crate::args::{AdviseArgs, Budget, ScopeArg};
use crate::error::CliError;
use crate::naming::{Namer, NotMet, is_chosen};
use crate::progress::Progress;
use crate::record::Recorder;
use crate::{interrupt, run};

/// Analyses the writes of every function, or in scope `functions` of those chosen.
pub fn run(args: &AdviseArgs, thresholds: Thresholds) -> Result<ExitCode, CliError> {
    run::check(&args.run)?;
    let whole = args.run.scope == Some(ScopeArg::Functions);
    let asked = args.budget.is_some_and(|budget| budget != Budget::All);
    if asked && whole {
        return Err(CliError::Usage(
            "--budget looks at parts of the run, at all functions alike: leave out `--scope functions`, or the budget"
                .into(),
        ));
    }
    let bursts = budget(args).bursts(args.stretch);
    let (chosen, totals) = chosen_code(&args.command, &args.run, &args.debug_dir)?;
    let mut namer = Namer::new(SiteTable::default(), &args.debug_dir);
    namer.choose(&chosen);
    let mut analyzer = Analyzer::new(thresholds, namer);
    if !chosen.is_empty() {
        analyzer = analyzer.with_scope(is_chosen);
    }
    if let Some(totals) = totals {
        analyzer = analyzer.with_totals(totals);
    }
    if let Some(b) = bursts {
        analyzer = analyzer.with_stretches(b.burst, b.dense / b.burst, b.thinnest);
    }
    analyse(args, thresholds, analyzer, bursts, &chosen)
}

/// What was asked for; `auto`, unless what else was asked for takes the whole run or chooses parts of it itself.
fn budget(args: &AdviseArgs) -> Budget {
    let run = &args.run;
    let whole = args.output.is_some() || run.scope == Some(ScopeArg::Functions);
    let parts = run.skip > 0 || run.take.is_some() || run.period.is_some() || run.region.is_some();
    args.budget.unwrap_or(if whole || parts {
        Budget::All
    } else {
        Budget::AUTO
    })
}

fn analyse(
    args: &AdviseArgs,
    thresholds: Thresholds,
    analyzer: Analyzer<Namer>,
    bursts: Option<Bursts>,
    chosen: &NamedCode,
) -> Result<ExitCode, CliError> {
    let mut options = run::options(&args.run, false, run::program_output(args.format))?;
    options.bursts = bursts;
    prestore_tracer::resolve(&args.command)?;
    let recorder = match &args.output {
        Some(dir) => Some(Recorder::create(
            dir,
            args.force,
            &args.command,
            &args.run,
            false,
            chosen,
        )?),
        None => None,
    };
    let interrupts = interrupt::watch()?;
    let mut advisor = Advisor {
        analyzer,
        recorder,
        progress: Progress::new(args.run.quiet, "recorded words"),
    };
    let recorded = record(&args.command, &options, &interrupts, &mut advisor);
    interrupt::finishing();
    drop(advisor.progress);
    let mut outcome = match recorded {
        Ok(outcome) => outcome,
        Err(error) => {
            if let Some(recorder) = advisor.recorder {
                recorder.abandon(&error.to_string());
            }
            return Err(error.into());
        }
    };
    let kept = advisor.recorder.map(|recorder| recorder.finish(&outcome));
    interrupt::over();
    run::tell_end(outcome.status);
    let mut analysis = advisor.analyzer.finish();
    let seen = analysis.seen;
    analysis
        .oracle
        .set_sites(std::mem::take(&mut outcome.sites));
    let scope = match chosen.is_empty() {
        true => "all",
        false => "functions",
    };
    let mut about = Run {
        program: outcome.program.display().to_string(),
        partial: run::partial(&outcome),
        exactness: match options.bursts {
            Some(bursts) => run::estimated(bursts, seen, outcome.coverage),
            None => run::exactness(outcome.coverage),
        },
        processes: u64::from(outcome.processes),
        recording: args.output.as_ref().map(|d| d.display().to_string()),
        ..print::about(args, scope)
    };
    about.notes.extend(run::missing(&outcome));
    let exact = outcome.coverage.filter(|_| options.bursts.is_none());
    if exact.is_some_and(|c| c.recorded == 0) {
        return Err(run::nothing(&args.run, &outcome));
    }
    if let Some(NotMet { all, why }) = analysis.oracle.tell_not_met() {
        if all {
            return Err(CliError::Failed(why));
        }
        about.notes.push(why);
    }
    print::findings(args, about, analysis, thresholds, None)?;
    // Findings first: a recording that cannot be kept is no reason to lose them too.
    kept.transpose()?;
    Ok(run::exit_code(&outcome))
}
