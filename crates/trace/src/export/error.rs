//! Why a trace could not be exported.

use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

use crate::ThreadId;
use crate::container::ReadError;
use crate::replay::ReplayError;

/// Why a trace could not be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A thread's words do not fit its process's blocks.
    #[error("cannot export thread {}: {source}", thread.0)]
    Replay {
        /// The thread.
        thread: ThreadId,
        /// Why.
        source: ReplayError,
    },
    /// There is such a file already.
    #[error("{} exists already; choose another output directory or remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Nothing can be written where the output is to go.
    #[error("cannot write to {}: {source}; choose another output directory", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The Parquet writer failed.
    #[error("cannot write {}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: ParquetError,
    },
}

impl ExportError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            std::io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Io { path, source },
        }
    }

    pub(super) fn parquet(path: &Path, source: ParquetError) -> Self {
        let source = match source {
            // What the system said, which the writer only passes on.
            ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
                Ok(source) => return Self::io(path, *source),
                Err(cause) => ParquetError::External(cause),
            },
            source => source,
        };
        let path = path.to_owned();
        Self::Parquet { path, source }
    }
}
