//! `prestore record -o DIR -- CMD…`, and the part of `advise -o` that stores.

mod progress;
mod writer;

use std::process::ExitCode;

use prestore_report::{bytes, count};
use prestore_trace::container::Manifest;
use prestore_tracer::{Outcome, record};

pub use progress::Progress;
pub use writer::Recorder;

use crate::args::{RecordArgs, ScopeArg};
use crate::error::CliError;
use crate::advise::chosen_functions;
use crate::{interrupt, run};

/// Records a program.
pub fn run(args: &RecordArgs) -> Result<ExitCode, CliError> {
    if matches!(args.run.scope, Some(ScopeArg::Count | ScopeArg::Sample)) {
        return Err(CliError::Usage(
            "this scope has no events to store: use `prestore advise --scope count -- CMD…` to \
             see stores by function, or `record --scope all`"
                .into(),
        ));
    }
    let functions = chosen_functions(&args.command, &args.run, &[])?.0;
    let options = run::options(&args.run, args.values)?;
    let progress = Progress::new(args.run.quiet);
    let mut recorder = Recorder::create(&args.output, args.force, &args.command, &args.run, args.values, &functions)?;
    recorder.show(progress);
    let interrupts = interrupt::watch()?;
    let outcome = record(&args.command, &options, &interrupts, &mut recorder);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            recorder.abandon(&error.to_string());
            return Err(error.into());
        }
    };
    let manifest = recorder.finish(&outcome)?;
    tell(args, &manifest, &outcome);
    Ok(run::exit_code(&outcome))
}

fn tell(args: &RecordArgs, manifest: &Manifest, outcome: &Outcome) {
    let totals = &manifest.totals;
    let accesses = totals.events.accesses();
    let dir = args.output.display();
    run::tell_end(outcome.status);
    if let Some(why) = run::partial(outcome) {
        eprintln!("prestore: partial recording: {why}");
    }
    if accesses == 0 {
        eprintln!("prestore: nothing was recorded: {}", run::why_empty(&args.run));
    }
    eprintln!(
        "prestore: {} accesses of {} threads in {} ({}, {:.2} bytes an access), dropped events: {}",
        count(accesses),
        outcome.threads,
        dir,
        bytes(totals.bytes),
        totals.bytes_per_access().unwrap_or(0.0),
        manifest.dropped_events,
    );
    eprintln!("prestore: next: prestore advise {dir}");
}
