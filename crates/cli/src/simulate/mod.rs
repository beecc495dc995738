//! `prestore simulate DIR --machine M`: a recording, replayed on a described machine.

mod watched;

use std::process::ExitCode;

use prestore_machine::Machine;
use prestore_replay::{First, Options, TraceSource, stacks};
use prestore_report::{TextOptions, simulation_text, to_json};
use prestore_sim::{Interest, NoMechanism, Results, Simulation, SimulationError};
use prestore_trace::container::{RecordingState, Trace};
use prestore_tracer::Region;

use crate::args::{MechanismArg, PlainFormat, SimulateArgs};
use crate::error::CliError;
use crate::naming::CallNames;
use crate::progress::Progress;
use crate::{output, run};
use watched::Watched;

/// Simulates the recording and prints the results.
pub fn run(args: &SimulateArgs) -> Result<ExitCode, CliError> {
    let settings: Vec<&str> = args.replay.settings.iter().map(String::as_str).collect();
    let machine = Machine::find_with(&args.machine, &settings)?;
    let trace = args.replay.stored.open()?;
    let results = simulate(args, &machine, &trace)?;
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
    let replay = &args.replay;
    let lenient = replay.stored.lenient;
    let options = Options {
        lenient,
        line: Some(machine.line.0),
        ..Options::default()
    };
    let stacks = stacks(machine, trace, &options)?;
    let names = CallNames::new(trace, &replay.debug_dir);
    let call_sites = |site| names.of(site);
    let whole = trace.manifest().state == RecordingState::Complete;
    let simulation = Simulation::new(machine)
        .seed(replay.seed)
        .interest(interest(replay.region.as_deref())?)
        .warmup(args.warmup)
        .stacks(&stacks)
        .call_sites(&call_sites)
        // The end of a recording that was cut off may hold the hand-off that a thread waits for.
        .lenient(lenient || !whole || replay.limit.is_some());
    let source = TraceSource::open(trace, &options)?;
    let source = First::new(source, replay.limit);
    let mut source = Watched::new(source, Progress::new(replay.quiet, "simulated operations"));
    let simulated = match args.mechanism {
        MechanismArg::None => simulation.run(&mut source, &mut NoMechanism),
    };
    let mut results = simulated.map_err(wrong)?;
    let first = source.inner();
    results.notes.extend(first.inner().notes());
    results.notes.extend(first.note());
    results.notes.extend(scope_note(trace));
    Ok(results)
}

/// The part that `--region` chooses.
pub fn interest(region: Option<&str>) -> Result<Interest, CliError> {
    Ok(match run::region(region)? {
        Region::Everything => Interest::All,
        Region::Any => Interest::AnyRegion,
        Region::Id(id) => Interest::Region(u64::from(id)),
    })
}

/// What of the program the recording does not have.
fn scope_note(trace: &Trace) -> Option<String> {
    let info = &trace.manifest().info;
    (info.scope.mode != "all").then(|| {
        format!(
            "recorded with --scope {}: other accesses take no part, and caches are emptier of them \
             than on a real machine",
            info.scope.mode
        )
    })
}

/// What a simulation that could not be done means to the user.
fn wrong(error: SimulationError<prestore_replay::SourceError>) -> CliError {
    match error {
        SimulationError::Source(error) => error.into(),
        error => CliError::Usage(error.to_string()),
    }
}
