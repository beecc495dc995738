//! `prestore machine calibrate`.

mod args;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use prestore_calibrate::{CalibrateError, Calibration, Effort, Watch, calibrate, render, to_toml};
use prestore_machine::Machines;

use crate::args::PlainFormat;
use crate::error::CliError;
use crate::{host, notice, output};

pub use args::CalibrateArgs;

/// Measures this host, writes its machine file and prints what was found.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, CliError> {
    let file = target(args)?;
    let effort = if args.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let host = undisturbed(args, effort)?;
    let text = to_toml(&host);
    // A file that cannot be used must not take the place of one that can.
    if let Err(error) = Machines::from_env().parse(host::HOST, &text) {
        return Err(CliError::Failed(format!(
            "what was measured is no machine that can be simulated: {error}; is the host very busy? try again"
        )));
    }
    write(&file, &text)?;
    for warning in &host.warnings {
        notice::tell(&format!("note: {warning}"));
    }
    notice::tell(&format!("{} written", file.display()));
    match args.format {
        PlainFormat::Json => output::print_json(&host)?,
        PlainFormat::Text => output::print(&render(&host))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How often a disturbed calibration is made, before the host is taken to stay busy.
const ATTEMPTS: usize = 3;

/// Measures until nothing disturbs, or with `--force` once, which is then said in the warnings.
fn undisturbed(args: &CalibrateArgs, effort: Effort) -> Result<Calibration, CliError> {
    let mut attempt = 1;
    loop {
        let (mut host, watch) = Watch::over(|| measure(args.quiet, effort))
            .map_err(|e| CliError::Failed(e.to_string()))?;
        let why = watch.disturbed();
        if why.is_empty() {
            return Ok(host);
        }
        if args.force {
            host.warnings.extend(why);
            return Ok(host);
        }
        if attempt == ATTEMPTS {
            return Err(CliError::Failed(format!(
                "the host is too busy to be calibrated: {}; nothing was written: end other work, or take the figures \
                 as they are with --force",
                why.join("; ")
            )));
        }
        notice::tell(&format!("measuring again: {}", why.join("; ")));
        attempt += 1;
    }
}

fn measure(quiet: bool, effort: Effort) -> Result<Calibration, CalibrateError> {
    let spinner = match quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::new_spinner(),
    };
    let host = calibrate(effort, host::cpu(), |next| {
        spinner.set_message(format!("measuring {next}"));
        spinner.tick();
    });
    spinner.finish_and_clear();
    host
}

fn target(args: &CalibrateArgs) -> Result<PathBuf, CliError> {
    if let Some(file) = &args.output {
        return Ok(file.clone());
    }
    Machines::user_folder()
        .map(|folder| folder.join(format!("{}.toml", host::HOST)))
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
