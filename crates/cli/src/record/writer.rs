//! A taker that stores.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use prestore_trace::block::BlockTable;
use prestore_trace::container::{
    Existing, Manifest, NamedCode, Outcome as End, ProgramCounts, RecordingInfo, Scope,
    StreamWriter, TraceWriter, Windows, WriteError,
};
use prestore_trace::filter::ScopeFilter;
use prestore_trace::record::{header, id};
use prestore_trace::{ProcessId, SiteTable, ThreadId};
use prestore_tracer::{Outcome, ProcessInfo, Sink, SinkError, Stream};

use crate::args::{RunArgs, ScopeArg};
use crate::error::CliError;
use crate::naming::{Namer, NotMet};
use crate::progress::Progress;
use crate::{host, run};

/// Stores a recording.
pub struct Recorder {
    writer: TraceWriter,
    /// Those of threads that have not ended.
    streams: BTreeMap<ThreadId, Taken>,
    progress: Progress,
    filter: Option<ScopeFilter<Namer>>,
    /// Whose code the process that was announced last began with.
    origin: Option<ProcessId>,
    /// Bytes of events so far, expected ones included, and those that are enough.
    bytes: u64,
    most: u64,
}

/// What a thread's words go to.
struct Taken {
    writer: StreamWriter,
    /// The time that its last record is, if it is.
    ends: Option<u64>,
    /// Bytes that it was expected to come to.
    bytes: u64,
}

/// The header of a time record: the last of a thread that was not killed is one.
const TIME: u64 = header(id::TIME, 1);

fn sink_error(error: WriteError) -> SinkError {
    SinkError(Box::new(error))
}

/// A folder that takes no recording is wrong input, a full disk is not.
pub fn cannot_create(error: WriteError) -> CliError {
    match error {
        WriteError::Io { .. } => CliError::Usage(format!("{error}; choose another with --output")),
        WriteError::Exists { .. } | WriteError::NotEmpty { .. } => {
            CliError::Usage(error.to_string())
        }
        error => error.into(),
    }
}

impl Recorder {
    /// Makes the recording's folder. With `chosen` code, only what concerns its writes is stored
    /// (scope `functions`).
    pub fn create(
        dir: &Path,
        force: bool,
        command: &[OsString],
        run: &RunArgs,
        values: bool,
        chosen: &NamedCode,
    ) -> Result<Self, CliError> {
        let info = RecordingInfo {
            command: command
                .iter()
                .map(|w| w.to_string_lossy().into_owned())
                .collect(),
            cwd: std::env::current_dir()
                .map(|d| d.display().to_string())
                .unwrap_or_default(),
            host: host::host(),
            engine: host::engine(),
            clock: host::clock(),
            line_size: host::line_size(),
            scope: Scope {
                mode: match run.scope {
                    Some(ScopeArg::Functions) => "functions".into(),
                    _ => "all".into(),
                },
                chosen: chosen.clone(),
                values,
                mapped_files: !run.no_allocations,
                shared_memory: !run.no_allocations,
            },
            windows: Windows {
                skip: run.skip,
                take: run.take,
                period: run.period,
                regions: run.region.is_some(),
            },
        };
        let existing = if force {
            Existing::Replace
        } else {
            Existing::Keep
        };
        Ok(Self {
            writer: TraceWriter::create(dir, info, existing).map_err(cannot_create)?,
            streams: BTreeMap::new(),
            progress: Progress::new(true, "recorded words"),
            filter: filter(chosen),
            origin: None,
            bytes: 0,
            most: u64::MAX,
        })
    }

    /// Has enough when there are so many bytes of events.
    pub fn end_at(&mut self, bytes: u64) {
        self.most = bytes;
    }

    /// Shows progress while recording.
    pub fn show(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Chosen code that was not met, if there are such.
    pub fn tell_not_met(&self) -> Option<NotMet> {
        self.filter.as_ref()?.oracle().tell_not_met()
    }

    /// Ends the recording as the run ended.
    pub fn finish(self, outcome: &Outcome) -> Result<Manifest, CliError> {
        let failed = outcome.failure.is_some();
        for stream in self.streams.into_values() {
            // Where storing has failed, what is on disk is all there will be.
            let end = stream.writer.finish();
            if !failed {
                end?;
            }
        }
        let mut writer = self.writer;
        if let Some(filter) = &self.filter {
            let passed = filter.passed();
            writer.program(ProgramCounts {
                instructions: passed.instructions,
                stores: passed.stores,
            });
        }
        let end = match run::partial(outcome) {
            None => End::Complete,
            Some(why) => End::Aborted(why),
        };
        if failed {
            let manifest = writer.manifest().clone();
            // A full disk may not even take the manifest; the one on it says "recording".
            return Ok(writer.finish(end).unwrap_or(manifest));
        }
        Ok(writer.finish(end)?)
    }

    /// Ends a recording that never began, saying why in its manifest where that is possible.
    pub fn abandon(self, why: &str) {
        let _ = self.writer.finish(End::Aborted(why.to_owned()));
    }
}

impl Sink for Recorder {
    fn process(&mut self, info: ProcessInfo) -> Result<(), SinkError> {
        self.origin = info.origin;
        let command = command_of(info.pid);
        let begun = self.writer.process(info.pid, info.parent, command);
        begun.map(drop).map_err(sink_error)
    }

    fn meta(
        &mut self,
        process: ProcessId,
        frames: &[u8],
        _table: &BlockTable,
    ) -> Result<(), SinkError> {
        let Some(filter) = &mut self.filter else {
            return self.writer.meta(process, frames).map_err(sink_error);
        };
        // A process's first frames follow its announcement.
        let frames = filter.meta(process, self.origin, frames);
        self.writer.meta(process, frames).map_err(sink_error)
    }

    fn thread(&mut self, stream: Stream) -> Result<(), SinkError> {
        let writer = self.writer.thread(stream.process, stream.tid, None);
        let writer = writer.map_err(sink_error)?;
        let taken = Taken {
            writer,
            ends: None,
            bytes: 0,
        };
        self.streams.insert(stream.thread, taken);
        Ok(())
    }

    fn words(
        &mut self,
        stream: Stream,
        words: &[u64],
        table: &BlockTable,
        sites: &mut SiteTable,
    ) -> Result<(), SinkError> {
        self.progress.add(words.len());
        let Some(taken) = self.streams.get_mut(&stream.thread) else {
            return Ok(());
        };
        taken.ends = match words {
            [.., header, ticks] if *header == TIME => Some(*ticks),
            _ => None,
        };
        let written = match &mut self.filter {
            None => taken.writer.words(words, table),
            Some(filter) => {
                let kept = filter
                    .words(stream.process, stream.thread, words, table, sites)
                    .map_err(|e| SinkError(Box::new(e)))?;
                let described = self.writer.meta(stream.process, kept.frames);
                described.and_then(|()| taken.writer.words(kept.words, kept.table))
            }
        };
        written.map_err(sink_error)?;
        let before = std::mem::replace(&mut taken.bytes, taken.writer.expected_bytes());
        self.bytes = (self.bytes + taken.bytes).saturating_sub(before);
        self.progress.size(self.bytes);
        Ok(())
    }

    fn has_enough(&self) -> bool {
        self.bytes >= self.most
    }

    fn thread_ended(&mut self, stream: Stream) -> Result<(), SinkError> {
        if let Some(filter) = &mut self.filter {
            filter.thread_ended(stream.thread);
        }
        let Some(taken) = self.streams.remove(&stream.thread) else {
            return Ok(());
        };
        if let Some(ticks) = taken.ends {
            self.writer.thread_ended(stream.thread, ticks);
        }
        taken.writer.finish().map(drop).map_err(sink_error)
    }

    fn process_ended(&mut self, process: ProcessId) -> Result<(), SinkError> {
        if let Some(filter) = &mut self.filter {
            filter.process_ended(process);
        }
        self.writer.process_ended(process).map_err(sink_error)
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        for stream in self.streams.values_mut() {
            stream.writer.flush();
        }
        for stream in self.streams.values() {
            stream.writer.sync().map_err(sink_error)?;
        }
        self.writer.flush().map_err(sink_error)
    }
}

fn filter(chosen: &NamedCode) -> Option<ScopeFilter<Namer>> {
    if chosen.is_empty() {
        return None;
    }
    let mut namer = Namer::new(SiteTable::default(), &[]);
    namer.choose(chosen);
    Some(ScopeFilter::new(namer))
}

/// The command line of a running process, empty where it is gone.
fn command_of(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes
        .split(|b| *b == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}
