//! What is wrong with a description, where, and what to do about it.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// A place in a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Path of the file; of a shipped file its path in the source tree; or the setting that
    /// overrides (`--set core.count=10`).
    pub file: Arc<str>,
    /// Line, counted from 1; `None` where there is no file.
    pub line: Option<u32>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => write!(f, "{}", self.file),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub at: Location,
    /// The key it is about, `caches.L2.latency`; empty: the whole.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What to do; empty where `what` says it.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: ", self.at)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

/// A machine or device that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineError {
    /// No file of this name.
    #[error("there is no {what} '{name}'{}; `prestore machine list` shows the machines, and a path \
             to a file ends with .toml", suggestion(.nearest.as_deref()))]
    Unknown {
        /// `machine` or `device`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// The known name that is spelt most alike.
        nearest: Option<String>,
    },
    /// A file that cannot be read.
    #[error("{path} cannot be read: {cause}; give the path of a machine description (TOML)")]
    Unreadable {
        /// Its path.
        path: String,
        /// Why.
        cause: String,
    },
    /// A `--set` that is not KEY=VALUE.
    #[error(
        "'{0}' is not KEY=VALUE: write a key as `prestore machine show` prints it, as in \
             core.count=10"
    )]
    Setting(String),
    /// What is wrong in the files, in the order of their lines. Never empty.
    #[error("{}", lines(.0))]
    Wrong(Vec<Problem>),
}

/// `; did you mean 'x'?`, or nothing.
fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}
