//! `prestore machine list`.

use std::process::ExitCode;

use prestore_machine::{Listed, Machines};
use serde::Serialize;

use crate::args::{MachineListArgs, PlainFormat};
use crate::error::CliError;
use crate::output;

/// Version of the form of the JSON output.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct ListJson<'a> {
    schema_version: u32,
    machines: Vec<MachineJson<'a>>,
}

#[derive(Serialize)]
struct MachineJson<'a> {
    name: &'a str,
    description: Option<&'a str>,
    error: Option<String>,
    file: &'a str,
    shipped: bool,
}

/// Prints the machines that can be asked for; one whose file is wrong is there with the error.
pub fn list(args: &MachineListArgs) -> Result<ExitCode, CliError> {
    let machines = Machines::from_env().list();
    match args.format {
        PlainFormat::Text => output::print_list(&entries(&machines))?,
        PlainFormat::Json => output::print_json(&ListJson {
            schema_version: SCHEMA_VERSION,
            machines: machines.iter().map(json).collect(),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn entries(machines: &[Listed]) -> Vec<(&str, String)> {
    let about = |machine: &Listed| {
        let mut about = match &machine.description {
            Ok(description) => description.clone(),
            Err(error) => {
                let error = error.to_string();
                let first = error.lines().next().unwrap_or_default();
                format!("cannot be used: {first}")
            }
        };
        if !machine.shipped {
            about += &format!(" ({})", machine.file);
        }
        about
    };
    let entries = machines.iter().map(|m| (m.name.as_str(), about(m)));
    entries.collect()
}

fn json(machine: &Listed) -> MachineJson<'_> {
    MachineJson {
        name: &machine.name,
        description: machine.description.as_deref().ok(),
        error: machine.description.as_ref().err().map(ToString::to_string),
        file: &machine.file,
        shipped: machine.shipped,
    }
}
