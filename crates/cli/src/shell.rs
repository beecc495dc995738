//! What an installation gives a shell: completions and manual pages.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::error::CliError;
use crate::output;

/// Prints the completions for a shell.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "prestore", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the command and one for each verb.
pub fn manual(args: &ManualArgs) -> Result<ExitCode, CliError> {
    let written = std::fs::create_dir_all(&args.output)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.output));
    written.map_err(|error: io::Error| {
        let dir = args.output.display();
        CliError::Usage(format!("{dir}: {error}; choose another with --output"))
    })?;
    Ok(ExitCode::SUCCESS)
}
