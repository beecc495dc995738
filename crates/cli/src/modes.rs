//! Caching modes: `prestore simulate --type` and `prestore whatif --types`.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use prestore_crash::Image;
use prestore_machine::Machine;
use prestore_modes::{Assignment, Chosen, Comparison, Mode, ModesError, Way, render};
use prestore_sim::Results;
use prestore_trace::container::RecordingState;

use crate::args::{PlainFormat, WhatifArgs};
use crate::error::CliError;
use crate::naming::CallNames;
use crate::output;
use crate::progress::Progress;
use crate::simulate::interest;

/// Simulates with the ranges that `--type` names in their modes.
pub fn simulate(
    way: &Way<'_>,
    machine: &Machine,
    types: &[String],
    names: &CallNames,
    watch: &mut dyn FnMut(usize),
) -> Result<Results, CliError> {
    let assignments = types.iter().map(|text| text.parse::<Assignment>());
    let assignments = assignments
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| wrong("--type ", e))?;
    let modes: Vec<Mode> = assignments.iter().map(|a| a.mode).collect();
    for a in &assignments {
        a.mode.possible_on(machine).map_err(|lacks| {
            let (name, machine) = (a.name.clone(), machine.name.clone());
            wrong(
                "--type ",
                ModesError::NoSuchMode {
                    name,
                    machine,
                    lacks,
                },
            )
        })?;
    }
    let images: Vec<(String, Image)> = assignments.into_iter().map(|a| (a.name, a.image)).collect();
    let chosen = chosen(way, &images, names).map_err(|e| wrong("--type ", e))?;
    let hand_offs = way.hand_offs().map_err(|e| wrong("--type ", e))?;
    (way.simulate(machine, (&chosen, &modes), &hand_offs, watch)).map_err(|e| wrong("--type ", e))
}

fn chosen(
    way: &Way<'_>,
    images: &[(String, Image)],
    names: &CallNames,
) -> Result<Chosen, ModesError> {
    let mut allocates = |name: &str, site| names.of(site).iter().any(|frame| frame.is(name));
    Chosen::new(way.trace, images, way.lenient, &mut allocates)
}

/// Every mode for every persistent range, and prints how they compare.
pub fn compare(args: &WhatifArgs, machines: &[Machine]) -> Result<ExitCode, CliError> {
    let replay = &args.replay;
    let images = args.persistent.iter().map(|text| {
        let image = text.parse::<Image>();
        let image = image.map_err(|e| CliError::Usage(format!("--persistent: {e}")))?;
        Ok((text.clone(), image))
    });
    let images: Vec<(String, Image)> = images.collect::<Result<_, CliError>>()?;
    let trace = replay.stored.open()?;
    let names = CallNames::new(&trace, &replay.debug_dir);
    let way = Way {
        trace: &trace,
        interest: interest(replay.region.as_deref())?,
        warmup: 0,
        seed: replay.seed,
        limit: replay.limit,
        lenient: replay.stored.lenient || trace.manifest().state != RecordingState::Complete,
        independent_loads: replay.independent_loads,
        call_sites: &|site| names.of(site),
    };
    let chosen = chosen(&way, &images, &names).map_err(|e| wrong("--persistent ", e))?;
    let progress = Mutex::new(Progress::new(replay.quiet, "simulations"));
    let done = |left| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.one_with(left);
    };
    let comparison = Comparison {
        way,
        chosen,
        machines,
    };
    let report = comparison
        .compare(&done)
        .map_err(|e| wrong("--persistent ", e))?;
    match replay.format {
        PlainFormat::Json => output::print_json(&report)?,
        PlainFormat::Text => output::print(&render(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What it means to the user, who named ranges by `option`.
fn wrong(option: &str, error: ModesError) -> CliError {
    match error {
        ModesError::Source(error) => error.into(),
        ModesError::Simulation { .. } | ModesError::NothingPersistent(_) => {
            CliError::Usage(error.to_string())
        }
        error => CliError::Usage(format!("{option}{error}")),
    }
}
