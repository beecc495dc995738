//! Results on stdout or in a file.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use prestore_report::{TextOptions, list_text, to_json};
use serde::Serialize;

use crate::error::CliError;
use crate::run;

/// Prints `text`; a pipe that nobody reads any more is no error to the user.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    is_open()
        .and_then(|()| out.write_all(text.as_bytes()))
        .and_then(|()| out.flush())
        .map_err(not_written)
}

/// Prints the help or the version that was asked for.
pub fn print_help(help: &clap::Error) -> ExitCode {
    let printed = is_open()
        .and_then(|()| help.print())
        .and_then(|()| io::stdout().flush());
    match printed.map_err(not_written) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// What is written to a stream that was closed gets lost without an error.
fn is_open() -> io::Result<()> {
    match prestore_tracer::stdout_is_closed() {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
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
/// The file is not made, not even for a moment: who is killed then would leave an empty one.
pub fn expect(file: &Path, option: &str) -> Result<(), CliError> {
    let tried = match fs::metadata(file) {
        // Who reads a pipe would take this for its end.
        Ok(known) if !known.is_file() && !known.is_dir() => Ok(()),
        Ok(_) => File::options().write(true).open(file).map(drop),
        Err(e) if e.kind() == io::ErrorKind::NotFound => room_for(file),
        Err(e) => Err(e),
    };
    tried.map_err(|e| {
        CliError::Usage(format!(
            "the result cannot be written to {}: {e}; choose another with {option}",
            file.display()
        ))
    })
}

/// Whether a file that is not there yet can be made: one without a name is, in its folder.
fn room_for(file: &Path) -> io::Result<()> {
    if file.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    tempfile::tempfile_in(folder).map(drop)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_file_that_is_expected_is_never_there_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result");
        let done = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut seen = false;
                while !done.load(Ordering::Relaxed) {
                    seen |= file.exists();
                }
                seen
            });
            for _ in 0..2000 {
                expect(&file, "--output").unwrap();
            }
            done.store(true, Ordering::Relaxed);
            watching.join().unwrap()
        });
        assert!(!seen);
    }

    #[test]
    fn where_no_file_can_be_made_none_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        let within = |name: &str| folder.path().join(name);
        fs::write(within("file"), "").unwrap();
        let long = "x".repeat(300);
        for name in ["none/result", "result/", "file/result", &long] {
            let said = expect(&within(name), "--output").unwrap_err().to_string();
            assert!(said.contains("choose another with --output"), "{said}");
        }
        expect(Path::new("no-such-result"), "--output").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
