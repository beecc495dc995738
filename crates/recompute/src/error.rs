//! What can be wrong with a loop, its file or its storage.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a loop cannot be run, or not go on. Nothing is overwritten when one of these is returned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The description contradicts itself.
    #[error("the loop {name}: {what}")]
    Description {
        /// The loop's name.
        name: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// There is less room than the arrays and the scheme need.
    #[error(
        "{place} holds {has} bytes, the loop {name} needs {needs}: it is not this loop's file, or it was cut off; \
         name another file, or remove it to begin again"
    )]
    TooSmall {
        /// Which file or memory.
        place: String,
        /// The loop's name.
        name: String,
        /// Bytes that are there.
        has: u64,
        /// Bytes that are needed.
        needs: u64,
    },
    /// Not a file of this library.
    #[error(
        "{0} was not written by this library: nothing is changed in it; name another file for the loop"
    )]
    Foreign(String),
    /// Written by another version of this library.
    #[error(
        "{place} is in format {found}, this library reads {known}: finish the loop with the library that began it, \
         or remove the file to begin again"
    )]
    Version {
        /// Which file or memory.
        place: String,
        /// The format that was found.
        found: u32,
        /// The format that is known.
        known: u32,
    },
    /// The header contradicts its checksum, or what is behind it the loop: which of them, and of what.
    #[error(
        "{0}: it is damaged, and what is in it cannot be trusted: restore it from a copy, or remove it to begin again"
    )]
    Damaged(String),
    /// Begun by another loop, or with other sizes, scheme or workers.
    #[error(
        "{place} belongs to another loop: it was begun by {found}, this is {wanted}; name another file, or remove it to \
         begin again"
    )]
    Other {
        /// Which file or memory.
        place: String,
        /// The loop that began it.
        found: String,
        /// The loop that was to go on.
        wanted: String,
    },
    /// Another process has the file.
    #[error("{0} is in use by another process: wait for it, or name another file")]
    InUse(PathBuf),
    /// The file's name is empty.
    #[error("the name of the loop's file is empty: name a file")]
    NoName,
    /// No room for the file.
    #[error("{path}: no room for {needs} bytes ({source}): free some, or name a file elsewhere")]
    Full {
        /// The file.
        path: PathBuf,
        /// How large it is to be.
        needs: u64,
        /// What the system said.
        source: io::Error,
    },
    /// No room in ordinary memory.
    #[error(
        "no room for {needs} bytes in memory: make the arrays smaller, or name a file where there is room"
    )]
    NoMemory {
        /// How much was asked for.
        needs: u64,
    },
    /// The file cannot be used.
    #[error("{path}: cannot {what}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// What was flushed could not be written to the storage.
    #[error(
        "the storage did not take what was written ({0}): what was reported durable before still is; start the loop \
         again when the storage works"
    )]
    Storage(io::Error),
    /// Flushes were asked for on storage that needs more, or on a CPU without them.
    #[error("{0}")]
    Durability(String),
    /// Another worker of this run has failed first.
    #[error("another worker has failed")]
    Aborted,
}
