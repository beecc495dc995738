//! `prestore record -o DIR -- CMD…`, and the part of `advise -o` that stores.

mod writer;

use std::process::ExitCode;

use prestore_report::{bytes, count, quoted};
use prestore_trace::container::{Manifest, remove_recording};
use prestore_tracer::{Outcome, ProgramOutput, record};

pub use writer::{Recorder, cannot_create};

use crate::advise::chosen_code;
use crate::args::{RecordArgs, ScopeArg};
use crate::error::CliError;
use crate::naming::NotMet;
use crate::progress::Progress;
use crate::{interrupt, notice, run};

/// Records a program and says how to go on.
pub fn run(args: &RecordArgs) -> Result<ExitCode, CliError> {
    let code = store(args, ProgramOutput::Inherited, true)?;
    notice::tell(&format!("next: prestore advise {}", quoted(&args.output)));
    Ok(code)
}

/// Records a program, which prints to `stdout`. `kept`: the recording will be there afterwards.
pub fn store(args: &RecordArgs, stdout: ProgramOutput, kept: bool) -> Result<ExitCode, CliError> {
    if matches!(args.run.scope, Some(ScopeArg::Count | ScopeArg::Sample)) {
        return Err(CliError::Usage(
            "this scope has no events to store: use `prestore advise --scope count -- CMD…` to \
             see stores by function, or `record --scope all`"
                .into(),
        ));
    }
    if args.max_size.is_some_and(|most| most.as_u64() == 0) {
        return Err(CliError::Usage(
            "--max-size 0 records nothing: give a size, as in 500MB".into(),
        ));
    }
    let options = run::options(&args.run, args.values, stdout)?;
    prestore_tracer::resolve(&args.command)?;
    let chosen = chosen_code(&args.command, &args.run, &[])?.0;
    let progress = Progress::new(args.run.quiet, "recorded words");
    let new = !args.output.exists();
    let mut recorder = Recorder::create(
        &args.output,
        args.force,
        &args.command,
        &args.run,
        args.values,
        &chosen,
    )?;
    recorder.show(progress);
    if let Some(most) = args.max_size {
        recorder.end_at(most.as_u64());
    }
    let interrupts = interrupt::watch()?;
    let outcome = record(&args.command, &options, &interrupts, &mut recorder);
    interrupt::finishing();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            recorder.abandon(&error.to_string());
            return Err(error.into());
        }
    };
    let not_met = recorder.tell_not_met();
    let manifest = recorder.finish(&outcome)?;
    interrupt::over();
    let empty = match &not_met {
        Some(NotMet { all: true, why }) => Some(CliError::Failed(why.clone())),
        _ if manifest.totals.events.accesses() == 0 => Some(run::nothing(&args.run, &outcome)),
        _ => None,
    };
    if let Some(error) = empty {
        tell(args, &manifest, &outcome, false);
        // It would only be in the way of the next one.
        remove_recording(&args.output)?;
        if new {
            let _somebody_else_may_use_it = std::fs::remove_dir(&args.output);
        }
        return Err(error);
    }
    tell(args, &manifest, &outcome, kept);
    if let Some(NotMet { why, .. }) = not_met {
        notice::tell(&why);
    }
    Ok(run::exit_code(&outcome))
}

fn tell(args: &RecordArgs, manifest: &Manifest, outcome: &Outcome, kept: bool) {
    let totals = &manifest.totals;
    let accesses = totals.events.accesses();
    let dir = args.output.display();
    run::tell_end(outcome.status);
    if let Some(why) = run::partial(outcome).filter(|_| accesses > 0) {
        let why = format!("partial recording: {why}");
        // That the recording failed is an error: with the program's end alone the exit code would be taken for the program's.
        if outcome.failure.is_some() {
            notice::say(&why);
        } else {
            notice::tell(&why);
        }
    }
    for missing in run::missing(outcome) {
        notice::tell(&missing);
    }
    if accesses == 0 || !kept {
        return;
    }
    notice::tell(&format!(
        "{} accesses of {} in {} ({}, {:.3} bytes an access), dropped events: {}",
        count(accesses),
        run::number(u64::from(outcome.threads), "thread"),
        dir,
        bytes(totals.bytes),
        totals.bytes_per_access().unwrap_or(0.0),
        manifest.dropped_events,
    ));
}
