//! Reading a trace directory, whole or as far as a killed recording came.

mod check;
mod error;
mod index;
mod log;
mod merge;
mod open;
mod stream;
mod tables;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use error::{Damage, DamageKind, Lost, ReadError};
pub use merge::Merged;
pub use open::read_manifest;
pub use stream::{Segment, StreamReader};

use super::manifest::{Manifest, Totals, events_file};
use super::stored::StoredBlock;
use crate::block::{BlockTable, ProcessFacts, UnknownOpcode};
use crate::{ProcessId, SiteTable, ThreadId};
use index::StreamIndex;
use tables::Tables;

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Leave corrupt parts out instead of failing; [`Trace::damage`] and
    /// [`StreamReader::damage`] tell which.
    pub lenient: bool,
}

/// A trace of events, open for reading.
///
/// Memory: all sites, and a few hundred bytes a process, thread and stored block. Block tables are
/// there while they are used, see [`Trace::table`]. Events are streamed: see [`Trace::stream`] and
/// [`Trace::merged`].
#[derive(Debug)]
pub struct Trace {
    dir: PathBuf,
    manifest: Manifest,
    options: ReadOptions,
    tables: Tables,
    sites: SiteTable,
    streams: Vec<StreamIndex>,
    damage: Vec<Damage>,
    words_read: Arc<AtomicU64>,
}

impl Trace {
    /// Opens the trace in `dir`.
    ///
    /// # Errors
    /// [`ReadError`]: no trace, another schema, samples instead of events, or files that are corrupt
    /// or lack what the manifest says they have. A
    /// recording that was killed is no error: see [`Trace::damage`] and the manifest's state.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        Self::open_with(dir, ReadOptions::default())
    }

    /// Opens the trace in `dir` as `options` say.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_with(dir: &Path, options: ReadOptions) -> Result<Self, ReadError> {
        open::open(dir, options)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest. Threads, processes and totals are those found in the files, also where the
    /// recording was killed before they were noted.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// All sites of all processes. The same trace gives the same ids each time.
    pub fn sites(&self) -> &SiteTable {
        &self.sites
    }

    /// The blocks of a process; empty for one that the trace does not have. Read from its log where
    /// nobody holds it: to be held by who needs it again. Readers of streams hold theirs.
    ///
    /// # Errors
    /// [`ReadError::Io`].
    pub fn table(&self, process: ProcessId) -> Result<Arc<BlockTable>, ReadError> {
        self.tables.get(process, &self.sites)
    }

    /// What the log of a process says of it; zeros for one that the trace does not have.
    pub fn process(&self, process: ProcessId) -> ProcessFacts {
        let index = self.tables.processes.get(process.0 as usize);
        index.map(|p| p.facts).unwrap_or_default()
    }

    /// Instructions of a process that the engine could not decode.
    pub fn unknown_opcodes(&self, process: ProcessId) -> &[UnknownOpcode] {
        let index = self.tables.processes.get(process.0 as usize);
        index.map_or(&[], |p| &p.unknown)
    }

    /// Are corrupt parts left out?
    pub fn is_lenient(&self) -> bool {
        self.options.lenient
    }

    /// What was left out when opening: torn tails of a killed recording, and, where asked for,
    /// corrupt parts.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// What a thread's stream holds; zeros for a thread that the trace does not have.
    pub fn totals(&self, thread: ThreadId) -> Totals {
        let stream = self.streams.get(thread.0 as usize);
        stream.map(|s| s.totals).unwrap_or_default()
    }

    /// The stored blocks of a thread, in order.
    pub fn blocks(&self, thread: ThreadId) -> impl Iterator<Item = &StoredBlock> {
        let stream = self.streams.get(thread.0 as usize);
        stream
            .into_iter()
            .flat_map(|s| s.blocks.iter().map(|b| &b.1))
    }

    /// The words of one thread, from its stored block number `from` on.
    ///
    /// # Errors
    /// [`ReadError::NoThread`], [`ReadError::Io`].
    pub fn stream(&self, thread: ThreadId, from: usize) -> Result<StreamReader<'_>, ReadError> {
        let index = self.streams.get(thread.0 as usize);
        let index = index.ok_or(ReadError::NoThread { thread })?;
        let path = self.dir.join(events_file(thread));
        let blocks = index.blocks.get(from..).unwrap_or(&[]);
        Ok(StreamReader::new(self, path, thread, blocks))
    }

    /// How many words were read of it so far, each as often as it was read: for whoever shows how far something has come.
    pub fn words_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.words_read)
    }

    fn tell_read(&self, words: usize) {
        self.words_read.fetch_add(words as u64, Ordering::Relaxed);
    }

    /// The words of all threads in order of time.
    ///
    /// # Errors
    /// [`ReadError::Io`].
    pub fn merged(&self) -> Result<Merged<'_>, ReadError> {
        let threads = 0..self.streams.len() as u32;
        let streams = threads.map(|t| self.stream(ThreadId(t), 0));
        Merged::new(streams.collect::<Result<_, _>>()?)
    }
}
