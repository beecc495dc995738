//! How far it has come, in a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use prestore_crash::Place;
use serde::{Deserialize, Serialize};

use super::checker::Ended;
use crate::error::CliError;

/// An image that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub number: u64,
    pub place: Place,
    pub ended: Ended,
    pub said: String,
}

/// What was asked for: another question has other images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub recording: u64,
    pub check: String,
    /// Seconds; none: of a version that did not write them down.
    #[serde(default)]
    pub timeout: String,
    pub domain: String,
    pub images: u64,
    pub seed: u64,
    pub from: usize,
}

/// All images below `done` were checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub question: Question,
    pub done: u64,
    /// Those that failed, of all that were checked.
    pub failed: BTreeSet<u64>,
    /// More of the first of them.
    pub failures: Vec<Failure>,
}

/// A state and its file.
pub struct Stored {
    path: PathBuf,
}

impl Stored {
    /// What is in the file at `path`; nothing where there is none yet.
    pub fn open(path: &Path, question: &Question) -> Result<(Self, Option<State>), CliError> {
        let stored = Self {
            path: path.to_owned(),
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((stored, None)),
            Err(e) => return Err(stored.wrong(&e.to_string())),
        };
        let state: State = serde_json::from_str(&text)
            .map_err(|e| stored.wrong(&format!("it is no state of `prestore crash` ({e})")))?;
        if state.question != *question {
            return Err(stored.wrong(
                "it is of another recording, command or choice of images, or of another --timeout: name another file, or remove it",
            ));
        }
        Ok((stored, Some(state)))
    }

    fn wrong(&self, why: &str) -> CliError {
        CliError::Usage(format!("--resume {}: {why}", self.path.display()))
    }

    /// The old state is there until the new one is.
    pub fn save(&self, state: &State) -> Result<(), CliError> {
        let mut next = self.path.clone().into_os_string();
        next.push(".new");
        let written = serde_json::to_string(state)
            .map_err(std::io::Error::other)
            .and_then(|text| fs::write(&next, text))
            .and_then(|()| fs::rename(&next, &self.path));
        written.map_err(|e| {
            let _half_a_file_helps_nobody = fs::remove_file(&next);
            CliError::Failed(format!(
                "--resume {}: cannot be written: {e}",
                self.path.display()
            ))
        })
    }
}
