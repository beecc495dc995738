//! Results on stdout or in a file.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use prestore_report::{TextOptions, list_text, to_json};
use serde::Serialize;

use crate::error::CliError;
use crate::run;

/// Prints `text`; a closed pipe is no error to the user.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(not_written)
}

/// Prints the help or the version that was asked for.
pub fn print_help(help: &clap::Error) -> ExitCode {
    let printed = help.print().and_then(|()| io::stdout().flush());
    match printed.map_err(not_written) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn not_written(error: io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::Closed,
        _ => CliError::Failed(format!("the result cannot be written to stdout: {error}")),
    }
}

/// What is said of findings that SARIF cannot show.
pub fn not_in_sarif(findings: usize) -> String {
    format!(
        "without a source line and so not in the SARIF output: {}; --format json has them",
        run::number(findings as u64, "finding")
    )
}

/// Columns of lists and tables: what `COLUMNS` asks for or the terminal has; more than any line has, where nobody asks and no person
/// reads it.
pub fn columns() -> usize {
    const ENDLESS: usize = 1 << 20;
    if io::stdout().is_terminal() || TextOptions::asked_width().is_some() {
        TextOptions::for_stdout().width
    } else {
        ENDLESS
    }
}

/// Prints names and what they are; whole lines, where no person reads them.
pub fn print_list(entries: &[(&str, String)]) -> Result<(), CliError> {
    let options = TextOptions {
        width: columns(),
        ..TextOptions::for_stdout()
    };
    print(&list_text(entries, options))
}

/// Looks whether a result can be written to `file`, before the work begins: hours of it are not to be lost to a mistyped path.
pub fn expect(file: &Path, option: &str) -> Result<(), CliError> {
    let tried = match fs::metadata(file) {
        // Who reads a pipe would take this for its end.
        Ok(known) if !known.is_file() && !known.is_dir() => Ok(()),
        Ok(_) => File::options().write(true).open(file).map(drop),
        Err(_) => File::create_new(file).and_then(|_| fs::remove_file(file)),
    };
    tried.map_err(|e| {
        CliError::Usage(format!(
            "the result cannot be written to {}: {e}; choose another with {option}",
            file.display()
        ))
    })
}

/// Writes `text` to `file`.
pub fn write(file: &Path, text: &str) -> Result<(), CliError> {
    fs::write(file, text).map_err(|e| {
        if file.is_file() {
            let _half_a_file_helps_nobody = fs::remove_file(file);
        }
        CliError::Failed(format!(
            "the result cannot be written to {}: {e}",
            file.display()
        ))
    })
}

/// Prints `value` as JSON and a newline.
pub fn print_json<T: Serialize>(value: &T) -> Result<(), CliError> {
    let text = to_json(value).map_err(|e| CliError::Failed(e.to_string()))?;
    print(text.trim_end())?;
    print("\n")
}
