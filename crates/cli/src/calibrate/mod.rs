//! `prestore machine calibrate`.

mod args;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use prestore_calibrate::{Effort, calibrate, render, to_toml};
use prestore_machine::Machines;

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{host, output};

pub use args::CalibrateArgs;

/// Measures this host, writes its machine file and prints what was found.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, CliError> {
    let file = target(args)?;
    let effort = if args.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let spinner = if args.quiet {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    };
    let host = calibrate(effort, host::host().cpu, |next| {
        spinner.set_message(format!("measuring {next}"));
        spinner.tick();
    });
    spinner.finish_and_clear();
    let host = host.map_err(|e| CliError::Failed(e.to_string()))?;

    let text = to_toml(&host);
    // A file that cannot be used must not take the place of one that can.
    if let Err(error) = Machines::from_env().parse("host", &text) {
        return Err(CliError::Failed(format!(
            "what was measured is no machine that can be simulated: {error}; is the host very busy? try again"
        )));
    }
    write(&file, &text)?;
    for warning in &host.warnings {
        eprintln!("prestore: note: {warning}");
    }
    eprintln!("prestore: {} written", file.display());
    match args.format {
        PlainFormat::Json => output::print_json(&host)?,
        PlainFormat::Text => output::print(&render(&host))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn target(args: &CalibrateArgs) -> Result<PathBuf, CliError> {
    if let Some(file) = &args.output {
        return Ok(file.clone());
    }
    Machines::user_folder()
        .map(|folder| folder.join("host.toml"))
        .ok_or_else(|| {
            CliError::Usage(
                "there is no home folder for the machine file: name a file with -o".into(),
            )
        })
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let made = match file.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    };
    made.and_then(|()| fs::write(file, text)).map_err(|e| {
        CliError::Failed(format!(
            "{} cannot be written: {e}; name another file with -o",
            file.display()
        ))
    })
}
