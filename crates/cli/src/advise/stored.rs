//! Analysis of a recording.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use prestore_dirtbuster::{Analyzer, Outcome, ProgramTotals, Thresholds};
use prestore_report::{Run, count, percent};
use prestore_trace::SiteTable;
use prestore_trace::container::Trace;
use prestore_trace::import::read_samples;

use super::print;
use crate::args::{AdviseArgs, Format};
use crate::error::CliError;
use crate::naming::{Namer, is_chosen};
use crate::progress::Reading;
use crate::{output, run, whatif};

/// Findings from recorded events. `kept`: the recording will be there afterwards.
pub fn events(
    args: &AdviseArgs,
    dir: &Path,
    thresholds: Thresholds,
    kept: bool,
) -> Result<ExitCode, CliError> {
    let trace = run::open(dir, args.lenient)?;
    // Before what takes long, where nothing is lost.
    if args.recording.is_some() {
        whatif::can_simulate(
            &trace,
            &whatif::machines(&args.machines, &[])?,
            args.lenient,
        )?;
    }
    let reading = Reading::new(args.run.quiet, &trace, 1);
    let (analysis, mut about) = analyse(&trace, dir, &args.debug_dir, thresholds)?;
    drop(reading);
    if !kept {
        about.recording = None;
    }
    print::findings(args, about, analysis, thresholds, Some(&trace))?;
    Ok(ExitCode::SUCCESS)
}

/// What the events of a recording say, and what is known of their run.
pub fn analyse(
    trace: &Trace,
    dir: &Path,
    debug_dirs: &[PathBuf],
    thresholds: Thresholds,
) -> Result<(Outcome<Namer>, Run), CliError> {
    let mut sites = trace.sites().clone();
    let mut namer = Namer::new(SiteTable::default(), debug_dirs);
    let chosen = &trace.manifest().info.scope.chosen;
    namer.choose(chosen);
    let mut analyzer = Analyzer::new(thresholds, namer);
    if !chosen.is_empty() {
        analyzer = analyzer.with_scope(is_chosen);
    }
    if let Some(program) = trace.manifest().program {
        analyzer = analyzer.with_totals(ProgramTotals {
            instructions: program.instructions,
            stores: program.stores,
        });
    }
    let mut merged = trace.merged()?;
    // Threads that refer to what was left out of a block log.
    let mut given_up = BTreeMap::new();
    while let Some(segment) = merged.next_segment()? {
        let (process, thread) = (segment.process, segment.thread);
        if given_up.contains_key(&thread) {
            continue;
        }
        let table = trace.table(process)?;
        let fed = analyzer.feed(process, thread, &table, &mut sites, segment.words);
        if let Err(error) = fed {
            if !trace.is_lenient() {
                return Err(CliError::Failed(format!("{}: {error}", dir.display())));
            }
            given_up.insert(thread, error);
        }
        for (process, thread) in merged.take_ended_threads() {
            analyzer.end_thread(process, thread);
        }
        for process in merged.take_ended() {
            analyzer.end(process);
        }
    }
    let mut about = run::recorded(trace);
    about.notes.extend(merged.damage().map(ToString::to_string));
    about.notes.extend(
        given_up
            .iter()
            .map(|(thread, error)| format!("thread {} was read in part: {error}", thread.0)),
    );
    about.notes.extend(run::unknown_in(trace));
    let mut analysis = analyzer.finish();
    if analysis.threads.iter().all(|t| t.instructions == 0) {
        return Err(nothing(dir, &about.notes));
    }
    analysis.oracle.set_sites(sites);
    Ok((analysis, about))
}

/// That nothing can be said of a recording, as nothing is in it; `notes` are what is known of it.
pub fn nothing(dir: &Path, notes: &[String]) -> CliError {
    let why = match notes.first() {
        Some(lost) => format!("; {lost}"),
        None => String::new(),
    };
    CliError::Usage(format!(
        "{}: no instruction of the program is in it, so that nothing can be said of it{why}; record it again",
        dir.display()
    ))
}

/// Stores by function from imported samples.
pub fn samples(args: &AdviseArgs, dir: &Path) -> Result<ExitCode, CliError> {
    let profile = read_samples(dir)
        .map_err(|e| CliError::Usage(e.to_string()))?
        .store_profile();
    match args.format {
        Format::Json => output::print_json(&profile)?,
        Format::Sarif => {
            return Err(CliError::Usage(
                "samples say who writes, not what to do there: no SARIF; use text or json".into(),
            ));
        }
        Format::Text => {
            let samples = run::number(profile.samples, "sample");
            let mut text = format!("Stores by function, from {samples}\n\n");
            for f in &profile.functions {
                let name = f.symbol.as_deref().unwrap_or("[unknown]");
                let module = f.module.as_deref().unwrap_or("");
                text += &format!(
                    "{:>7}  {:>10}  {name}  {module}\n",
                    percent(f.share),
                    count(f.stores)
                );
                let called = f.contexts.iter().filter(|c| !c.callers.is_empty());
                for context in called.take(3) {
                    text += &format!(
                        "{:>21}  from {}\n",
                        count(context.stores),
                        context.callers.join(" < ")
                    );
                }
            }
            text += "\n";
            for limit in &profile.limits {
                text += &format!("{limit}\n");
            }
            output::print(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
