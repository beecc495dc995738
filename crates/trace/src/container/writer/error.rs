//! Why a trace could not be written.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::container::EncodeError;
use crate::{ProcessId, ThreadId};

/// Why a trace could not be written. What was written before stays readable.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The directory holds something that is no trace.
    #[error("{} is not empty and not a trace; choose another output directory", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds a trace.
    #[error("{} holds a trace already; choose another output directory or ask to replace it (--force)", dir.display())]
    Exists {
        /// The directory.
        dir: PathBuf,
    },
    /// The disk, the quota or the largest allowed file size is reached.
    #[error("no space left while writing {}: {source}; what was written before is readable. Free space, choose another output directory, or record less (--scope functions, --take)", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else the file system said.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Words of a thread that cannot be encoded.
    #[error("cannot record thread {}: {source}", thread.0)]
    Encode {
        /// The thread.
        thread: ThreadId,
        /// Why.
        source: EncodeError,
    },
    /// A stream had failed before.
    #[error("the stream of thread {} failed before: {cause}", thread.0)]
    Failed {
        /// The thread.
        thread: ThreadId,
        /// The first failure.
        cause: String,
    },
    /// A process that was never announced.
    #[error("process {} was not announced to the trace writer", process.0)]
    UnknownProcess {
        /// Its number.
        process: ProcessId,
    },
    /// A stream was not finished.
    #[error("the stream of thread {} was not finished: its last words are missing", thread.0)]
    StreamOpen {
        /// The thread.
        thread: ThreadId,
    },
}

impl WriteError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let path = path.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::Full { path, source },
            _ => Self::Io { path, source },
        }
    }
}
