//! How far it has come, in a file.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
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

/// What the name of the file that is locked ends with.
const LOCK: &str = ".lock";

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

/// A state and its file, which no other run has meanwhile.
pub struct Stored {
    path: PathBuf,
    /// Locked; the state's own file is another one after each [`Stored::save`].
    lock: Option<File>,
}

impl Stored {
    /// What is in the file at `path`; nothing where there is none yet.
    pub fn open(path: &Path, question: &Question) -> Result<(Self, Option<State>), CliError> {
        let mut stored = Self {
            path: path.to_owned(),
            lock: None,
        };
        stored.lock()?;
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok((stored, None)),
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

    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(end);
        name.into()
    }

    /// Two runs that write the same file would each lose what the other has checked.
    fn lock(&mut self) -> Result<(), CliError> {
        let path = self.beside(LOCK);
        loop {
            let file = File::create(&path)
                .map_err(|e| self.wrong(&format!("cannot be locked: {}: {e}", path.display())))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(self.wrong(
                        "another `prestore crash` is at it: wait for its end, or name another file",
                    ));
                }
                // A file system without locks.
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => return Ok(()),
                Err(TryLockError::Error(e)) => {
                    return Err(self.wrong(&format!("cannot be locked: {}: {e}", path.display())));
                }
            }
            // Whoever had it may have removed it since it was opened.
            let here = fs::metadata(&path).ok().map(|m| (m.dev(), m.ino()));
            if file.metadata().ok().map(|m| (m.dev(), m.ino())) == here {
                self.lock = Some(file);
                return Ok(());
            }
        }
    }

    fn wrong(&self, why: &str) -> CliError {
        CliError::Usage(format!("--resume {}: {why}", self.path.display()))
    }

    /// The old state is there until the new one is.
    pub fn save(&self, state: &State) -> Result<(), CliError> {
        let next = self.beside(".new");
        let written = serde_json::to_string(state)
            .map_err(std::io::Error::other)
            .and_then(|text| {
                let mut file = fs::File::create(&next)?;
                file.write_all(text.as_bytes())?;
                // Not the name before the bytes: of a power cut in between an empty file would be left.
                file.sync_all()
            })
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

impl Drop for Stored {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // Where it cannot be removed it is in nobody's way: the lock goes with the process.
            let _ = fs::remove_file(self.beside(LOCK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time_has_a_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let question = Question {
            recording: 1,
            check: "true".to_owned(),
            timeout: "1 s".to_owned(),
            domain: "Adr".to_owned(),
            images: 10,
            seed: 1,
            from: 0,
        };
        let state = State {
            question: question.clone(),
            done: 3,
            failed: BTreeSet::new(),
            failures: Vec::new(),
        };
        let (first, none) = Stored::open(&path, &question).unwrap();
        assert!(none.is_none());
        first.save(&state).unwrap();
        let second = Stored::open(&path, &question).err().unwrap().to_string();
        assert!(second.contains("another `prestore crash`"), "{second}");
        // After a refusal the first one still has it.
        assert!(Stored::open(&path, &question).is_err());
        drop(first);
        let (_again, kept) = Stored::open(&path, &question).unwrap();
        assert_eq!(kept, Some(state));
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 2, "the state, and the lock of who has it");
    }
}
