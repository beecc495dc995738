//! `prestore simulate DIR --machine M`: a recording, replayed on a described machine.

use std::process::ExitCode;

use prestore_machine::Machine;
use prestore_modes::Way;
use prestore_replay::{Options, Replay, Sample, SourceError};
use prestore_report::{TextOptions, simulation_text, to_json};
use prestore_sim::{Interest, NoMechanism, Results, Simulation, SimulationError};
use prestore_trace::container::Trace;
use prestore_tracer::Region;

use crate::args::{MechanismArg, PlainFormat, SimulateArgs};
use crate::error::CliError;
use crate::modes;
use crate::naming::CallNames;
use crate::progress::{Progress, Reading};
use crate::{advise, output, run};

/// Simulates the recording and prints the results.
pub fn run(args: &SimulateArgs) -> Result<ExitCode, CliError> {
    let settings: Vec<&str> = args.replay.settings.iter().map(String::as_str).collect();
    let machine = Machine::find_with(&args.machine, &settings)?;
    let trace = args.replay.stored.open()?;
    if let Some(file) = &args.output {
        output::expect(file, "--output")?;
    }
    let results = simulate(args, &machine, &trace)?;
    // Of a damaged recording nothing may be left; a region or what follows a warm-up may be empty in any.
    let whole = args.replay.region.is_none() && args.warmup == 0;
    if trace.is_lenient() && whole && results.instructions == 0 {
        return Err(advise::nothing(trace.dir(), &results.notes));
    }
    let text = match args.replay.format {
        PlainFormat::Json => to_json(&results).map_err(|e| CliError::Failed(e.to_string()))?,
        PlainFormat::Text => {
            let options = match args.output {
                None => TextOptions::for_stdout(),
                Some(_) => TextOptions::default(),
            };
            let program = trace.manifest().info.command.join(" ");
            simulation_text(&results, &program, options)
        }
    };
    match &args.output {
        None => output::print(&text)?,
        Some(file) => output::write(file, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn simulate(args: &SimulateArgs, machine: &Machine, trace: &Trace) -> Result<Results, CliError> {
    let asked = &args.replay;
    let names = CallNames::new(trace, &asked.debug_dir);
    let call_sites = |site| names.of(site);
    let simulation = Simulation::new(machine)
        .seed(asked.seed)
        .interest(interest(asked.region.as_deref())?)
        .warmup(args.warmup)
        .call_sites(&call_sites);
    let options = Options {
        lenient: asked.stored.lenient,
        independent_loads: asked.independent_loads,
        ..Options::default()
    };
    let accesses = trace.manifest().totals.events.accesses();
    let all = asked.limit.map_or(accesses, |most| most.min(accesses));
    let operations = || Progress::new(asked.quiet, "simulated operations").until(all);
    if !args.types.is_empty() {
        let way = Way {
            trace,
            interest: interest(asked.region.as_deref())?,
            warmup: args.warmup,
            seed: asked.seed,
            limit: asked.limit,
            lenient: asked.stored.lenient,
            independent_loads: asked.independent_loads,
            call_sites: &call_sites,
        };
        let mut progress = operations();
        return modes::simulate(&way, machine, &args.types, &names, &mut |ops| {
            progress.add(ops);
        });
    }
    let sample = asked.sample();
    let simulating = || match &sample {
        Some(sample) => Progress::new(asked.quiet, "units").until(sample.units),
        None => operations(),
    };
    // One line after the other: there is none of the simulation before it has begun.
    let mut reading = Some(Reading::for_hand_offs(asked.quiet, trace));
    let mut progress = None;
    let replay = Replay::new(trace, simulation)
        .options(options)
        .limit(asked.limit)
        .watch(|ops| {
            reading = None;
            progress.get_or_insert_with(simulating).add(ops);
        });
    let simulated = match (args.mechanism, &sample) {
        (MechanismArg::None, None) => replay.run(&mut NoMechanism),
        (MechanismArg::None, Some(sample)) => {
            let runs = args.sample_runs.unwrap_or(Sample::RUNS).min(sample.units);
            replay.sampled(sample, &mut vec![NoMechanism; runs as usize])
        }
    };
    simulated.map_err(wrong)
}

/// The part that `--region` chooses.
pub fn interest(region: Option<&str>) -> Result<Interest, CliError> {
    Ok(match run::region(region)? {
        Region::Everything => Interest::All,
        Region::Any => Interest::AnyRegion,
        Region::Id(id) => Interest::Region(u64::from(id)),
    })
}

/// What a simulation that could not be done means to the user.
fn wrong(error: SimulationError<SourceError>) -> CliError {
    match error {
        SimulationError::Source(error) => error.into(),
        error => CliError::Usage(error.to_string()),
    }
}
