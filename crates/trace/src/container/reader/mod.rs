//! Reading a trace directory, whole or as far as a killed recording came.

mod error;
mod index;
mod merge;
mod open;
mod stream;
mod tables;

use std::path::{Path, PathBuf};

pub use error::{Damage, DamageKind, ReadError};
pub use merge::Merged;
pub use open::read_manifest;
pub use stream::{Segment, StreamReader};

use super::manifest::{Manifest, Totals, events_file};
use super::stored::StoredBlock;
use crate::block::BlockTable;
use crate::{ProcessId, SiteTable, ThreadId};
use index::StreamIndex;

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Leave corrupt parts out instead of failing; [`Trace::damage`] and
    /// [`StreamReader::damage`] tell which.
    pub lenient: bool,
}

/// A trace of events, open for reading.
///
/// Memory: the block tables of all processes, and a few hundred bytes a stored block. Events are
/// streamed: see [`Trace::stream`] and [`Trace::merged`].
#[derive(Debug)]
pub struct Trace {
    dir: PathBuf,
    manifest: Manifest,
    options: ReadOptions,
    tables: Vec<BlockTable>,
    sites: SiteTable,
    streams: Vec<StreamIndex>,
    damage: Vec<Damage>,
}

impl Trace {
    /// Opens the trace in `dir`.
    ///
    /// # Errors
    /// [`ReadError`]: no trace, a newer schema, samples instead of events, or corrupt files. A
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

    /// The blocks of a process; empty for one that the trace does not have.
    pub fn table(&self, process: ProcessId) -> &BlockTable {
        static EMPTY: std::sync::OnceLock<BlockTable> = std::sync::OnceLock::new();
        let table = self.tables.get(process.0 as usize);
        table.unwrap_or_else(|| EMPTY.get_or_init(BlockTable::default))
    }

    /// The site table for new sites (those of allocation records, say) and a block table.
    pub fn table_and_sites(&mut self, process: ProcessId) -> (Option<&BlockTable>, &mut SiteTable) {
        (self.tables.get(process.0 as usize), &mut self.sites)
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
        Ok(StreamReader::new(path, thread, blocks, self.options))
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
