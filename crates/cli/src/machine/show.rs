//! `prestore machine show`.

use std::process::ExitCode;

use prestore_machine::Machines;

use crate::args::{MachineFormat, MachineShowArgs};
use crate::error::CliError;
use crate::output;

/// Prints a machine.
pub fn show(args: &MachineShowArgs) -> Result<ExitCode, CliError> {
    let settings: Vec<&str> = args.settings.iter().map(String::as_str).collect();
    let described = Machines::from_env().describe(&args.machine, &settings)?;
    match args.format {
        MachineFormat::Text => output::print(&described.render(output::columns()))?,
        MachineFormat::Json => output::print_json(&described.to_json())?,
        MachineFormat::Toml => output::print(&described.to_toml())?,
    }
    Ok(ExitCode::SUCCESS)
}
