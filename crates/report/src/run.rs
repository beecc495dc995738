//! What was run, and how exactly it was observed.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Whether figures are counts or estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExactnessKind {
    /// Every event in the scope was seen.
    #[default]
    Exact,
    /// Every event inside the recorded windows was seen, nothing outside them.
    Windowed,
    /// Events were sampled; figures are estimates.
    Sampled,
}

/// How exact the figures are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exactness {
    /// Counted or estimated.
    pub kind: ExactnessKind,
    /// In words: the sampling period, the windows, what is less exact and why; may be empty.
    pub detail: String,
}

/// One thread's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTotals {
    /// Process, numbered as the trace does.
    pub process: u32,
    /// Thread, numbered as the trace does.
    pub thread: u32,
    /// Instructions executed.
    pub instructions: u64,
    /// Store instructions executed.
    pub stores: u64,
    /// Load instructions executed.
    pub loads: u64,
    /// Fences and atomics executed.
    pub fences: u64,
}

/// What a demote pre-store does on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demoting {
    /// It has no instruction for it.
    Nothing,
    /// `cldemote`, where stores leave the core in order (x86).
    InOrder,
}

/// The run that a report speaks of. All but `command` may be left at its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Absolute path of the program.
    pub program: String,
    /// Command line, program first.
    pub command: Vec<String>,
    /// Bytes of the last-level cache of the machine that it ran on; `None`: not known.
    pub last_level_cache: Option<u64>,
    /// What demoting does on the machine that it ran on; `None`: not known, or as P0 has it.
    #[serde(skip)]
    pub demoting: Option<Demoting>,
    /// What this host is called as a machine to predict for, if it was calibrated and has a core for each thread.
    #[serde(skip)]
    pub predicts_for: Option<String>,
    /// Folder the program was started in; files below it are shown relative to it.
    pub cwd: Option<String>,
    /// The recording that was read, `None` when the analysis ran beside the program.
    pub recording: Option<String>,
    /// What observed the run, with its version.
    pub engine: String,
    /// Scope of the recording: `count`, `functions` or `all`.
    pub scope: String,
    /// Counted or estimated.
    pub exactness: Exactness,
    /// Why the run is not complete (killed, full disk, Ctrl-C); `None`: it is.
    pub partial: Option<String>,
    /// Events lost on the way; anything but 0 makes figures lower bounds.
    pub dropped_events: u64,
    /// Processes observed.
    pub processes: u64,
    /// Threads observed; may be empty where only totals are known.
    pub threads: Vec<ThreadTotals>,
    /// What else a reader must know: one sentence each.
    pub notes: Vec<String>,
}

impl Run {
    /// What to put behind `prestore advise [OPTIONS]` to see this again, quoted for a shell.
    pub fn again(&self) -> String {
        match &self.recording {
            Some(dir) => quote(dir),
            None => {
                let words: Vec<String> = self.command.iter().map(|w| quote(w)).collect();
                format!("-- {}", words.join(" "))
            }
        }
    }
}

/// A path as a POSIX shell reads it back, as far as it is text.
pub fn quoted(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

/// `word` as a POSIX shell reads it back.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_comes_back_quoted() {
        let run = Run {
            command: vec!["./kv".into(), "it's".into(), "a b".into(), String::new()],
            ..Run::default()
        };
        assert_eq!(run.again(), r"-- ./kv 'it'\''s' 'a b' ''");
        assert_eq!(quoted(Path::new("my run.trace")), "'my run.trace'");
    }

    #[test]
    fn a_recording_is_read_again() {
        let run = Run {
            recording: Some("kv.trace".into()),
            ..Run::default()
        };
        assert_eq!(run.again(), "kv.trace");
    }
}
