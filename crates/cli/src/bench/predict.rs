//! `prestore bench --predict`: a run recorded and simulated.

use std::path::Path;
use std::process::{Command, Stdio};

use prestore_bench::{BetweenCores, Case, Plan, Variant};
use prestore_machine::quantity::Cycles;
use prestore_machine::{Machine, MachineError};
use prestore_replay::Replay;
use prestore_sim::{Interest, NoMechanism, Simulation};
use prestore_trace::container::Trace;

use super::program_command;
use crate::error::CliError;
use crate::host::HOST;
use crate::interrupt;

/// The machine to predict with, where it has cores for all of the plan.
pub fn machine(name: &str, plan: &Plan) -> Result<Machine, CliError> {
    let machine = Machine::find(name).map_err(|error| match error {
        MachineError::Unknown { .. } if name == HOST => CliError::Usage(
            "this host is not described yet: `prestore machine calibrate` measures it and writes the machine \
             'host'; or name another with --machine"
                .into(),
        ),
        error => error.into(),
    })?;
    let cores = u64::from(machine.core.count);
    if let Some(threads) = plan.cases.iter().map(|case| case.threads).max()
        && threads > cores
    {
        return Err(CliError::Usage(format!(
            "{threads} threads cannot be predicted on {}, which has {cores} cores: choose programs with fewer \
             (--program, --threads), or another --machine",
            machine.name
        )));
    }
    Ok(machine)
}

/// Nanoseconds to read a line that another core has just written, now; none where that cannot be measured.
pub fn between_cores() -> Option<f64> {
    let figure = prestore_calibrate::between_cores().ok().flatten()?;
    Some(figure.value())
}

/// Gives the host's description the way from core to core as it was while the programs ran: a hypervisor may have
/// moved the CPUs since the calibration. Answers both; none where nothing was measured.
pub fn with_cores_as_now(machine: &mut Machine, between_cores: &[f64]) -> Option<BetweenCores> {
    let described = machine.directory.snoop.0 / machine.core.clock.0;
    let both = BetweenCores::of(between_cores, described)?;
    machine.directory.snoop = Cycles(both.now.median * machine.core.clock.0);
    Some(both)
}

/// Seconds of what a variant of a case times, recorded and then simulated on `machine`.
///
/// The recording takes the same path as the measured run: the same executable, arguments and environment.
pub fn seconds(
    this: &Path,
    machine: &Machine,
    case: &Case,
    variant: Variant,
) -> Result<f64, CliError> {
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        CliError::Failed(format!(
            "{} with {variant} cannot be {what}: {why}",
            case.program.name()
        ))
    };
    let folder = tempfile::tempdir().map_err(|e| failed("recorded", &e))?;
    interrupt::takes_along(folder.path());
    let recording = folder.path().join("recording");
    let program = program_command(this, case);
    let output = Command::new(this)
        .args(["record", "--quiet", "--output"])
        .arg(&recording)
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args())
        .args(case.arguments(variant))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed("recorded", &e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed("recorded", &said.trim()));
    }
    let trace = Trace::open(&recording)?;
    let timed = case.program.timed_region();
    let simulation =
        Simulation::new(machine).interest(timed.map_or(Interest::All, Interest::Region));
    let results = Replay::new(&trace, simulation)
        .run(&mut NoMechanism)
        .map_err(|e| failed("simulated", &e))?;
    Ok(results.seconds)
}
