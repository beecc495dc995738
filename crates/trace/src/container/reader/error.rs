//! Why a trace could not be read, and what was left out of it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::ThreadId;
use crate::block::MetaError;
use crate::container::manifest::SCHEMA_VERSION;

/// Why a trace could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The directory has no manifest, or one of something else.
    #[error("{} is not a trace: {why}; `prestore record -o DIR -- CMD` makes one", dir.display())]
    NotATrace {
        /// The directory.
        dir: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The trace was written by a newer version.
    #[error("{} was written by a newer prestore: schema {found}, this one reads up to {}; upgrade", dir.display(), SCHEMA_VERSION)]
    NewerSchema {
        /// The directory.
        dir: PathBuf,
        /// Its schema version.
        found: u64,
    },
    /// The trace holds samples where events are needed.
    #[error("{} holds samples, not events: only stores by function and calling context can be read from it", dir.display())]
    OnlySamples {
        /// The directory.
        dir: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A stored block is corrupt.
    #[error("{} is corrupt at byte {offset}: {what}; --lenient leaves the damaged part out", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the stored block starts, bytes into the file.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A block log is corrupt.
    #[error("{} is corrupt: {source}; --lenient leaves out what follows", path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: MetaError,
    },
    /// A thread that the trace does not have.
    #[error("the trace has no thread {}", thread.0)]
    NoThread {
        /// Its number.
        thread: ThreadId,
    },
}

impl ReadError {
    pub(super) fn io(path: &std::path::Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, source }
    }
}

/// A part of a trace that was left out of what is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Where the part starts, bytes into the file.
    pub offset: u64,
    /// How long it is, bytes.
    pub bytes: u64,
    /// What is wrong with it.
    pub what: DamageKind,
}

/// What is wrong with a part of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// The end of a file that was being written when the recording was killed.
    TornTail,
    /// Something in the middle; only read over where that was asked for.
    Corrupt(String),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (bytes, path, offset) = (self.bytes, self.path.display(), self.offset);
        match &self.what {
            DamageKind::TornTail => write!(
                f,
                "{path}: the recording was interrupted; the last {bytes} bytes, from byte \
                 {offset} on, are an unfinished piece and were left out"
            ),
            DamageKind::Corrupt(what) => write!(
                f,
                "{path}: {bytes} bytes from byte {offset} on were left out: {what}"
            ),
        }
    }
}
