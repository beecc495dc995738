//! Why a recording cannot be simulated.

use std::path::PathBuf;

use prestore_trace::ThreadId;
use prestore_trace::container::ReadError;
use prestore_trace::replay::ReplayError;
use thiserror::Error;

/// Why operations could not be had from a recording.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A part of it is missing.
    #[error("{damage}; --lenient simulates what there is, or record again")]
    Damaged {
        /// The first part that was left out.
        damage: String,
    },
    /// A thread's words do not fit its process's blocks.
    #[error(
        "{}: thread {}, behind {instrs} instructions: {source}; --lenient ends the thread there",
        dir.display(), thread.0
    )]
    Replay {
        /// The recording.
        dir: PathBuf,
        /// The thread.
        thread: ThreadId,
        /// Instructions that could be replayed.
        instrs: u64,
        /// What does not fit.
        source: ReplayError,
    },
    /// It does not say what was stored.
    #[error(
        "{}: {why}; record it again with `prestore record --values -o DIR -- CMD`",
        dir.display()
    )]
    NoValues {
        /// The recording.
        dir: PathBuf,
        /// What is missing.
        why: &'static str,
    },
    /// No events were recorded, or none of the chosen threads.
    #[error("{}: {what}", dir.display())]
    Nothing {
        /// The recording.
        dir: PathBuf,
        /// Why, and what to do.
        what: String,
    },
}
