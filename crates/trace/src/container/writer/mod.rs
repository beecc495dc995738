//! Writing a trace directory while the program runs.

mod directory;
mod encoders;
mod encoding;
mod error;
mod file;
mod log;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use directory::{TABLE_NAMES, TABLES, remove};
pub(crate) use directory::{prepare, write_file};
pub use error::WriteError;
pub use stream::StreamWriter;

use super::manifest::{
    FORMAT, Manifest, ModuleEntry, ProcessEntry, ProgramCounts, RecordingInfo, RecordingState,
    SCHEMA_VERSION, ThreadEntry, Totals, blocks_file, events_file,
};
use super::{LogTotals, manifest_file};
use crate::block::ModuleLoad;
use crate::{ProcessId, ThreadId};
use encoders::Encoders;
use log::Log;

/// How a recording ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came to its end.
    Complete,
    /// It was given up, for a reason worth telling.
    Aborted(String),
}

/// What to do where there is something already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    #[default]
    Keep,
    /// Replace it if it is a trace (its own files only are removed), refuse otherwise.
    Replace,
}

/// What a stream tells the writer of the manifest.
#[derive(Debug, Default)]
struct StreamState {
    totals: Totals,
    checksum: u32,
    closed: bool,
}

type Shared = Arc<Mutex<StreamState>>;

/// Manifests are not rewritten more often than this as processes and threads come; what is not
/// noted yet when the recorder is killed, a reader finds in the streams themselves.
const REWRITE_EVERY: Duration = Duration::from_millis(200);
/// And not more often than this for each 64 KiB of it: those of ten thousand processes have megabytes.
const REWRITE_PACE: Duration = Duration::from_millis(50);

/// Writes a trace directory: manifest and block logs. The threads' events are written by
/// [`StreamWriter`]s, which may live on other threads.
///
/// A process's meta log must be given to [`TraceWriter::meta`] before words that refer to its
/// blocks are given to a stream: then a killed recording is readable whole up to its last block.
#[derive(Debug)]
pub struct TraceWriter {
    dir: PathBuf,
    manifest: Manifest,
    /// `None`: the process has ended.
    logs: Vec<Option<Log>>,
    streams: Vec<Shared>,
    encoders: Arc<Encoders>,
    written: Instant,
    /// How long the manifest, as large as it was then, is good for.
    pace: Duration,
    dirty: bool,
}

impl TraceWriter {
    /// Makes the directory (and those above it) and the manifest.
    ///
    /// # Errors
    /// [`WriteError::NotEmpty`] and [`WriteError::Exists`] as `existing` says;
    /// [`WriteError::Io`] and [`WriteError::Full`].
    pub fn create(dir: &Path, info: RecordingInfo, existing: Existing) -> Result<Self, WriteError> {
        directory::prepare(dir, existing)?;
        let mut writer = Self {
            dir: dir.to_owned(),
            manifest: Manifest {
                format: FORMAT.to_owned(),
                schema_version: SCHEMA_VERSION,
                started_unix_ms: now_ms(),
                info,
                ..Manifest::default()
            },
            logs: Vec::new(),
            streams: Vec::new(),
            encoders: Arc::default(),
            written: Instant::now(),
            pace: Duration::ZERO,
            dirty: true,
        };
        writer.rewrite()?;
        Ok(writer)
    }

    /// A process begins.
    ///
    /// # Errors
    /// [`WriteError::Io`], [`WriteError::Full`].
    pub fn process(
        &mut self,
        pid: u32,
        parent: u32,
        command: Vec<String>,
    ) -> Result<ProcessId, WriteError> {
        let id = ProcessId(self.logs.len() as u32);
        let log = Log::create(self.dir.join(blocks_file(id)))?;
        self.logs.push(Some(log));
        self.manifest.processes.push(ProcessEntry {
            id,
            pid,
            parent,
            command,
            log: LogTotals::default(),
        });
        self.changed()?;
        Ok(id)
    }

    /// Appends to the meta log of a process, as it came; frames may be split between calls.
    ///
    /// # Errors
    /// [`WriteError::Io`], [`WriteError::Full`], [`WriteError::UnknownProcess`].
    pub fn meta(&mut self, process: ProcessId, bytes: &[u8]) -> Result<(), WriteError> {
        let log = self.logs.get_mut(process.0 as usize);
        let log = log
            .and_then(Option::as_mut)
            .ok_or(WriteError::UnknownProcess { process })?;
        let frames = log.append(bytes)?;
        let (loads, _) = ModuleLoad::all_in(&frames);
        self.manifest.processes[process.0 as usize].log = log.totals();
        let loaded = !loads.is_empty();
        self.manifest
            .modules
            .extend(loads.into_iter().map(|m| ModuleEntry {
                process,
                path: m.path,
                build_id: m.build_id,
                start: m.start,
                end: m.end,
                load_bias: m.load_bias,
            }));
        if loaded { self.changed() } else { Ok(()) }
    }

    /// A thread begins, at `start_ticks` where that is known.
    ///
    /// # Errors
    /// [`WriteError::Io`], [`WriteError::Full`], [`WriteError::UnknownProcess`].
    pub fn thread(
        &mut self,
        process: ProcessId,
        tid: u32,
        start_ticks: Option<u64>,
    ) -> Result<StreamWriter, WriteError> {
        if self.logs.len() <= process.0 as usize {
            return Err(WriteError::UnknownProcess { process });
        }
        let id = ThreadId(self.streams.len() as u32);
        let shared = Shared::default();
        let path = self.dir.join(events_file(id));
        let stream = StreamWriter::create(
            path,
            process,
            id,
            Arc::clone(&shared),
            Arc::clone(&self.encoders),
        )?;
        self.streams.push(shared);
        self.manifest.threads.push(ThreadEntry {
            id,
            process,
            tid,
            start_ticks,
            ..ThreadEntry::default()
        });
        self.changed()?;
        Ok(stream)
    }

    /// Notes the ticks at which a thread ended, where that is known.
    pub fn thread_ended(&mut self, thread: ThreadId, ticks: u64) {
        if let Some(entry) = self.manifest.threads.get_mut(thread.0 as usize) {
            entry.end_ticks = Some(ticks);
            self.dirty = true;
        }
    }

    /// A process has ended: nothing more comes of it.
    ///
    /// # Errors
    /// [`WriteError::UnknownProcess`].
    pub fn process_ended(&mut self, process: ProcessId) -> Result<(), WriteError> {
        let log = self.logs.get_mut(process.0 as usize);
        *log.ok_or(WriteError::UnknownProcess { process })? = None;
        Ok(())
    }

    /// Notes events that happened and are not in the trace.
    pub fn dropped(&mut self, events: u64) {
        let dropped = &mut self.manifest.dropped_events;
        *dropped = dropped.saturating_add(events);
        self.dirty = true;
    }

    /// Notes exact counts of the whole run, where less than the whole is stored.
    pub fn program(&mut self, counts: ProgramCounts) {
        self.manifest.program = Some(counts);
        self.dirty = true;
    }

    /// Rewrites the manifest, if that was long enough ago. To be called now and then (each second,
    /// say).
    ///
    /// # Errors
    /// [`WriteError::Io`], [`WriteError::Full`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        if self.written.elapsed() < self.pace {
            return Ok(());
        }
        self.rewrite()
    }

    /// The manifest as of now.
    pub fn manifest(&mut self) -> &Manifest {
        self.collect();
        &self.manifest
    }

    /// Ends the recording and returns its final manifest.
    ///
    /// # Errors
    /// [`WriteError::Io`], [`WriteError::Full`]: what was written stays readable, as that of a
    /// killed recording. [`WriteError::StreamOpen`] if `outcome` is complete and a stream was
    /// not finished: its last words would be missing.
    pub fn finish(mut self, outcome: Outcome) -> Result<Manifest, WriteError> {
        self.collect();
        (self.manifest.state, self.manifest.reason) = match outcome {
            Outcome::Complete => (RecordingState::Complete, None),
            Outcome::Aborted(reason) => (RecordingState::Aborted, Some(reason)),
        };
        let open = self.streams.iter().position(|s| !lock(s).closed);
        if let (Some(at), RecordingState::Complete) = (open, self.manifest.state) {
            let thread = ThreadId(at as u32);
            return Err(WriteError::StreamOpen { thread });
        }
        self.manifest.finished_unix_ms = Some(now_ms());
        self.rewrite()?;
        Ok(std::mem::take(&mut self.manifest))
    }

    fn changed(&mut self) -> Result<(), WriteError> {
        self.dirty = true;
        if self.written.elapsed() < REWRITE_EVERY.max(self.pace) {
            return Ok(());
        }
        self.rewrite()
    }

    fn collect(&mut self) {
        self.manifest.totals = Totals::default();
        for (entry, stream) in self.manifest.threads.iter_mut().zip(&self.streams) {
            let state = lock(stream);
            entry.totals = state.totals;
            entry.checksum = state.checksum;
            self.manifest.totals += state.totals;
        }
    }

    /// Replaces the manifest in one step, so that there is a whole one at any time.
    fn rewrite(&mut self) -> Result<(), WriteError> {
        self.collect();
        let bytes = manifest_file::write(&self.dir, &self.manifest)?;
        (self.written, self.dirty) = (Instant::now(), false);
        self.pace = REWRITE_PACE * (bytes >> 16) as u32;
        Ok(())
    }
}

impl Drop for TraceWriter {
    /// A recorder that gives up without a word leaves an up-to-date manifest if it can.
    fn drop(&mut self) {
        if self.dirty {
            let _best_effort = self.rewrite();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_millis() as u64)
}
