//! A program run for real, in a process of its own.

use std::process::{Command, Stdio};

use crate::programs::BUILT;
use crate::{BenchError, Program};

/// What a run of a program printed about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Operations: elements, messages, requests.
    pub operations: u64,
    /// Wall-clock seconds of the measured phase.
    pub seconds: f64,
    /// Depends on what was computed, not on how; the same in every variant.
    pub checksum: String,
}

/// Runs a program through `command`, which must end in [`crate::program_main`] with the arguments that are added to
/// it, and reads what it prints.
///
/// # Errors
/// [`BenchError::NotBuilt`], [`BenchError::Start`], and [`BenchError::Program`] where it fails or prints no result.
pub fn execute(
    mut command: Command,
    program: Program,
    arguments: &[String],
) -> Result<Outcome, BenchError> {
    if !BUILT {
        return Err(BenchError::NotBuilt);
    }
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| BenchError::Start {
            program: program.name(),
            source,
        })?;
    let said = String::from_utf8_lossy(&output.stdout);
    match parse(&said) {
        Some(outcome) if output.status.success() => Ok(outcome),
        _ => Err(BenchError::Program {
            program: program.name(),
            status: output.status.to_string(),
            message: format!(
                "{}{}",
                said.trim(),
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        }),
    }
}

/// Reads `name: ops=… seconds=… ops_per_s=… checksum=…`.
fn parse(text: &str) -> Option<Outcome> {
    let line = text.lines().next()?;
    let field = |name: &str| {
        line.split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    Some(Outcome {
        operations: field("ops")?.parse().ok()?,
        seconds: field("seconds")?.parse().ok().filter(|s| *s > 0.0)?,
        checksum: field("checksum")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_line_is_read() {
        let line = "kv: ops=1000 seconds=0.500000 ops_per_s=2000 checksum=00ff\n";
        let outcome = parse(line).unwrap();
        assert_eq!((outcome.operations, outcome.seconds), (1000, 0.5));
        assert_eq!(outcome.checksum, "00ff");
    }

    #[test]
    fn other_text_is_no_result() {
        for text in ["", "usage: kv", "kv: ops=1 seconds=0.000000 checksum=1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
