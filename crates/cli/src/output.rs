//! Results on stdout or in a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use prestore_report::to_json;
use serde::Serialize;

use crate::error::CliError;
use crate::run;

/// Prints `text`; a closed pipe is no error to the user.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => CliError::Closed,
            _ => CliError::Failed(format!("the result cannot be written to stdout: {e}")),
        })
}

/// What is said of findings that SARIF cannot show.
pub fn not_in_sarif(findings: usize) -> String {
    format!(
        "without a source line and so not in the SARIF output: {}; --format json has them",
        run::number(findings as u64, "finding")
    )
}

/// Writes `text` to `file`.
pub fn write(file: &Path, text: &str) -> Result<(), CliError> {
    fs::write(file, text).map_err(|e| {
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
