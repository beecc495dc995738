//! Findings of a program with the gains predicted for them: the run is recorded, because it is
//! simulated several times.

use std::process::ExitCode;

use prestore_dirtbuster::Thresholds;
use prestore_machine::{Machine, RangeSelector};

use super::stored;
use crate::args::{AdviseArgs, RecordArgs, ScopeArg};
use crate::error::CliError;
use crate::{interrupt, record, run};

/// Records the program, analyses the recording and predicts.
pub fn run(args: &AdviseArgs, thresholds: Thresholds) -> Result<ExitCode, CliError> {
    if matches!(args.run.scope, Some(ScopeArg::Count | ScopeArg::Sample)) {
        return Err(CliError::Usage(
            "--machine simulates what was recorded, and this scope records no accesses: leave out \
             --scope, or use all or functions"
                .into(),
        ));
    }
    // Wrong names are told before the program runs, and what cannot be simulated.
    let machines = crate::whatif::machines(&args.machines, &[])?;
    let places = machines.iter().find(|m| places_allocations(m));
    if let (Some(machine), true) = (places, args.run.no_allocations) {
        return Err(CliError::Usage(format!(
            "--no-allocations: {} places data by the call that allocates it, so allocations must be recorded: leave \
             the option out",
            machine.name
        )));
    }
    let scratch = match &args.output {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|e| {
            CliError::Failed(format!("no folder for the recording can be made: {e}"))
        })?),
    };
    if let Some(scratch) = &scratch {
        interrupt::takes_along(scratch.path());
    }
    let dir = match (&args.output, &scratch) {
        (Some(dir), _) => dir.clone(),
        (None, Some(scratch)) => scratch.path().join("recording"),
        (None, None) => return Err(CliError::Failed("no folder for the recording".into())),
    };
    let recording = RecordArgs {
        output: dir,
        force: args.force,
        values: false,
        max_size: None,
        run: args.run.clone(),
        command: args.command.clone(),
    };
    let code = record::store(
        &recording,
        run::program_output(args.format),
        args.output.is_some(),
    )?;
    stored::events(args, &recording.output, thresholds, args.output.is_some())?;
    Ok(code)
}

/// Does a placement rule of `machine` ask what was allocated?
fn places_allocations(machine: &Machine) -> bool {
    let rules = machine.placement.rules.iter();
    let mut of = rules.map(|rule| &rule.of);
    of.any(|of| {
        matches!(
            of,
            RangeSelector::AllocationsFrom(_) | RangeSelector::AllocationSite(_)
        )
    })
}
