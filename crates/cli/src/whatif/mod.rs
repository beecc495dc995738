//! `prestore whatif DIR --machine M[,M…]`: what following the advice would gain.

mod advice;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use prestore_machine::Machine;
use prestore_replay::Sample;
use prestore_report::{Report, TextOptions, WhatIfReport, whatif_text};
use prestore_sim::Interest;
use prestore_trace::container::{RecordingState, Trace};
use prestore_whatif::{Advice, Study, WhatIf, WhatIfError, have_cores};

use crate::args::{PlainFormat, WhatifArgs};
use crate::error::CliError;
use crate::naming::CallNames;
use crate::progress::Progress;
use crate::simulate::interest;
use crate::{accuracy, advise, modes, output};

/// Predicts and prints.
pub fn run(args: &WhatifArgs) -> Result<ExitCode, CliError> {
    let replay = &args.replay;
    let machines = machines(&args.machines, &replay.settings)?;
    if args.types {
        return modes::compare(args, &machines);
    }
    let asked = Asked {
        interest: interest(replay.region.as_deref())?,
        seed: replay.seed,
        limit: replay.limit,
        sample: replay.sample(),
        simulations: args.simulations,
        all_together: !args.ops.is_empty(),
        lenient: replay.stored.lenient,
        independent_loads: replay.independent_loads,
        debug_dirs: replay.debug_dir.clone(),
        quiet: replay.quiet,
    };
    let thresholds = advise::thresholds(&args.thresholds)?;
    let trace = replay.stored.open()?;
    can_simulate(&trace, &machines, asked.lenient)?;
    let dir = &replay.stored.recording;
    let (mut analysis, about) = advise::analyse(&trace, dir, &replay.debug_dir, thresholds)?;
    analysis.oracle.leave_loader_alone(&mut analysis.findings);
    let advice = advice::chosen(&analysis.findings, args)?;
    let mut namer = analysis.oracle;
    let least = thresholds.min_write_time;
    let report = Report::new(&analysis.findings, about, least, &mut namer);
    let predictions = predict(&trace, &machines, &advice, &asked)?;
    let mut result = WhatIfReport::new(&report, &predictions, accuracy::of);
    let left_out = advice::left_out(&analysis.findings, &advice, args);
    result.notes.extend(left_out.iter().filter_map(|&number| {
        let finding = report.findings.iter().find(|f| f.number == number)?;
        Some(format!(
            "finding {number} ({}) is left out: this run writes it once, where there is nothing to gain; `--finding {number}` \
             simulates it all the same",
            finding.place.function
        ))
    }));
    match replay.format {
        PlainFormat::Json => output::print_json(&result)?,
        PlainFormat::Text => {
            let cwd = report.run.cwd.as_deref();
            output::print(&whatif_text(&result, TextOptions::for_stdout(), cwd))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The machines of these names, or in these files, with `settings` applied to each.
pub fn machines(names: &[String], settings: &[String]) -> Result<Vec<Machine>, CliError> {
    if names.iter().any(String::is_empty) {
        return Err(CliError::Usage(
            "--machine: a name is missing before or behind a comma; `prestore machine list` shows the machines".into(),
        ));
    }
    let twice = (1..names.len()).find(|&i| names[..i].contains(&names[i]));
    if let Some(i) = twice {
        return Err(CliError::Usage(format!(
            "--machine names {} twice",
            names[i]
        )));
    }
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let found = names.iter().map(|name| Machine::find_with(name, &settings));
    Ok(found.collect::<Result<_, _>>()?)
}

/// How to predict.
pub struct Asked {
    /// Which part is measured.
    pub interest: Interest,
    /// Seed of all that is random.
    pub seed: u64,
    /// Simulate only so many operations, the first of all threads.
    pub limit: Option<u64>,
    /// Simulate a sample only.
    pub sample: Option<Sample>,
    /// Simulations of each variant on each machine.
    pub simulations: u32,
    /// Follow everything together, whether it gains or not.
    pub all_together: bool,
    /// Take what there is of a damaged recording.
    pub lenient: bool,
    /// No load waits for the one that brings its address.
    pub independent_loads: bool,
    /// Folders with separate debug files.
    pub debug_dirs: Vec<PathBuf>,
    /// No progress on stderr.
    pub quiet: bool,
}

/// Simulates `trace` with and without `advice` on every machine.
pub fn predict(
    trace: &Trace,
    machines: &[Machine],
    advice: &[Advice],
    asked: &Asked,
) -> Result<WhatIf, CliError> {
    let names = CallNames::new(trace, &asked.debug_dirs);
    let study = Study {
        trace,
        machines,
        advice,
        all_together: asked.all_together,
        simulations: asked.simulations,
        lenient: is_lenient(trace, asked.lenient),
        independent_loads: asked.independent_loads,
        limit: asked.limit,
        sample: asked.sample,
        interest: asked.interest,
        seed: asked.seed,
        call_sites: &|site| names.of(site),
    };
    let progress = Mutex::new(Progress::new(asked.quiet, "simulations"));
    let done = |left| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.one_with(left);
    };
    study.predict(&done).map_err(refused)
}

/// Have all machines a core for each thread?
pub fn can_simulate(trace: &Trace, machines: &[Machine], lenient: bool) -> Result<(), CliError> {
    have_cores(trace, machines, is_lenient(trace, lenient)).map_err(refused)
}

/// A recording that has no end is read as far as it goes.
fn is_lenient(trace: &Trace, asked: bool) -> bool {
    asked || trace.manifest().state != RecordingState::Complete
}

fn refused(error: WhatIfError) -> CliError {
    match error {
        WhatIfError::Source(error) => error.into(),
        error => CliError::Usage(error.to_string()),
    }
}
