//! Why a trace could not be read, and what was left out of it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::ThreadId;
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
    /// The trace was written by an older version, in a form that is not read any more.
    #[error("{} was written by an older prestore: schema {found}, this one reads {}; record the program again, or read it with the version that wrote it", dir.display(), SCHEMA_VERSION)]
    OlderSchema {
        /// The directory.
        dir: PathBuf,
        /// Its schema version.
        found: u64,
    },
    /// Parts of the trace are missing or damaged.
    #[error("{}{}; usable: {usable}; --lenient reads that and leaves the rest out", .damage.first().map(Damage::as_error).unwrap_or_default(), more(.damage))]
    Incomplete {
        /// Which parts, never empty.
        damage: Vec<Damage>,
        /// What is left.
        usable: String,
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
    /// A thread that the trace does not have.
    #[error("the trace has no thread {}", thread.0)]
    NoThread {
        /// Its number.
        thread: ThreadId,
    },
}

fn more(damage: &[Damage]) -> String {
    match damage.len() {
        0 | 1 => String::new(),
        n => format!(
            " (and {} more damaged parts: `prestore trace info` lists them)",
            n - 1
        ),
    }
}

impl ReadError {
    pub(crate) fn io(path: &std::path::Path, source: io::Error) -> Self {
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
    /// The file ends earlier than the manifest says.
    Lost(Lost),
    /// The file is not there.
    Missing,
    /// The manifest is not there, or cannot be trusted, for this reason.
    Manifest(String),
}

/// What a file lacks that the manifest says it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Stored blocks (of a block log: pieces).
    pub blocks: u64,
    /// Of so many.
    pub of: u64,
    /// Raw words.
    pub words: u64,
    /// Loads, stores and atomics.
    pub accesses: u64,
    /// Instructions executed.
    pub instructions: u64,
}

impl Damage {
    /// May the recording be read without being asked to leave something out? A killed recorder
    /// leaves nothing else.
    pub(super) fn is_expected(&self) -> bool {
        self.what == DamageKind::TornTail
    }

    fn as_error(&self) -> String {
        match &self.what {
            DamageKind::Corrupt(what) => {
                format!(
                    "{} is corrupt at byte {}: {what}",
                    self.path.display(),
                    self.offset
                )
            }
            _ => self.to_string(),
        }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (bytes, path, offset) = (self.bytes, self.path.display(), self.offset);
        match &self.what {
            DamageKind::TornTail => write!(
                f,
                "{path}: the last {bytes} bytes, from byte {offset} on, are an unfinished piece and \
                 were left out: the recording was interrupted, or the file was cut"
            ),
            DamageKind::Corrupt(what) => write!(
                f,
                "{path}: {bytes} bytes from byte {offset} on were left out: {what}"
            ),
            DamageKind::Missing => write!(f, "{path} is missing"),
            DamageKind::Manifest(why) => write!(f, "{path}: {why}"),
            DamageKind::Lost(lost) if lost.words > 0 => write!(
                f,
                "{path} is incomplete: {} of {} stored blocks are missing at its end, {} words, {} \
                 accesses, {} instructions, {bytes} bytes",
                lost.blocks, lost.of, lost.words, lost.accesses, lost.instructions
            ),
            DamageKind::Lost(lost) => write!(
                f,
                "{path} is incomplete: {} of {} pieces are missing at its end, {bytes} bytes",
                lost.blocks, lost.of
            ),
        }
    }
}
