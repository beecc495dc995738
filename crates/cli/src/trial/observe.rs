//! The findings that are tried: of the program, run once for them, or of a recording.

use std::fs::File;
use std::process::{ExitStatus, Stdio};

use prestore_dirtbuster::{Analyzer, Findings, Thresholds};
use prestore_report::{Report, Run};
use prestore_trace::SiteTable;
use prestore_tracer::{Options, ProgramOutput, record_reading};

use super::TryArgs;
use crate::advise::{self, Advisor};
use crate::args::PlainFormat;
use crate::error::CliError;
use crate::naming::Namer;
use crate::progress::Progress;
use crate::{interrupt, run};

/// What the analysis says.
pub struct Observed {
    /// By code sites.
    pub findings: Findings,
    /// With names.
    pub report: Report,
    /// How the program ended, if it ran for this.
    pub ended: Option<ExitStatus>,
    /// What the run left out: one sentence each.
    pub notes: Vec<String>,
    /// Names sites.
    pub namer: Namer,
}

/// Runs or reads.
pub fn observe(args: &TryArgs) -> Result<Observed, CliError> {
    let thresholds = advise::thresholds(&args.thresholds)?;
    let mut ended = None;
    let (mut analysis, about) = match &args.from {
        Some(dir) => {
            let trace = run::open(dir, false)?;
            advise::analyse(&trace, dir, &args.debug_dir, thresholds)?
        }
        None => live(args, thresholds, &mut ended)?,
    };
    analysis.oracle.leave_loader_alone(&mut analysis.findings);
    let mut namer = analysis.oracle;
    let notes = about.notes.clone();
    let report = Report::new(
        &analysis.findings,
        about,
        thresholds.min_write_time,
        &mut namer,
    );
    Ok(Observed {
        findings: analysis.findings,
        report,
        ended,
        notes,
        namer,
    })
}

fn live(
    args: &TryArgs,
    thresholds: Thresholds,
    ended: &mut Option<ExitStatus>,
) -> Result<(prestore_dirtbuster::Outcome<Namer>, Run), CliError> {
    let interrupts = interrupt::watch()?;
    let options = Options {
        stdout: match args.format {
            PlainFormat::Text => ProgramOutput::Inherited,
            PlainFormat::Json => ProgramOutput::Stderr,
        },
        outlived: Some(run::tell_outlived),
        ..Options::default()
    };
    let mut advisor = Advisor {
        analyzer: Analyzer::new(
            thresholds,
            Namer::new(SiteTable::default(), &args.debug_dir),
        ),
        recorder: None,
        progress: Progress::new(args.quiet, "recorded words"),
    };
    let outcome = record_reading(
        stdin(args)?,
        &args.command,
        &options,
        &interrupts,
        &mut advisor,
    );
    drop(advisor.progress);
    let outcome = outcome?;
    // A request to stop is meant for the trial, of which this run is the first.
    if interrupts.count() > 0 || outcome.failure.is_some() {
        return Err(CliError::Failed(format!(
            "nothing was tried: {}",
            run::partial(&outcome).unwrap_or_else(|| "the trial was stopped".into())
        )));
    }
    *ended = outcome.status;
    let mut analysis = advisor.analyzer.finish();
    let mut about = Run {
        cwd: std::env::current_dir()
            .ok()
            .map(|d| d.display().to_string()),
        ..Run::default()
    };
    about.notes.extend(run::missing(&outcome));
    analysis.oracle.set_sites(outcome.sites);
    Ok((analysis, about))
}

fn stdin(args: &TryArgs) -> Result<Stdio, CliError> {
    Ok(match &args.input {
        Some(path) => File::open(path)
            .map_err(|e| CliError::Usage(format!("--input {}: {e}", path.display())))?
            .into(),
        None => Stdio::null(),
    })
}
