//! `manifest.json`: what was recorded, how, and whether it is whole.

use serde::{Deserialize, Serialize};

use super::EventCounts;
use super::pieces::LogTotals;
use super::stored::{HEADER, StoredBlock};
use crate::{ProcessId, ThreadId};

/// The version of the container that this code writes and reads.
pub const SCHEMA_VERSION: u32 = 3;

/// Value of [`Manifest::format`].
pub const FORMAT: &str = "prestore-trace";

/// File name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// What a trace directory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceKind {
    /// Every event of the recorded scope.
    #[default]
    Events,
    /// Samples of accesses ([`crate::import`]): no order, no distances.
    Samples,
}

/// How far the recording came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordingState {
    /// It runs, or it was killed.
    #[default]
    Recording,
    /// It came to its end.
    Complete,
    /// It was given up, see [`Manifest::reason`].
    Aborted,
}

/// The machine that was recorded on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// CPU model, as the CPU names itself.
    pub cpu: String,
    /// Operating system and its version.
    pub os: String,
    /// Bytes of the last-level cache; 0: not known.
    pub last_level_cache: u64,
}

/// What recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What ticks count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Its name: `tsc`, `cntvct`, `monotonic-ns`.
    pub name: String,
    /// Ticks a second, where known.
    pub hz: Option<u64>,
}

/// Which accesses were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// `all`, `functions` or `count` (design, section 3).
    pub mode: String,
    /// What of the code, for `functions`.
    #[serde(flatten)]
    pub chosen: NamedCode,
    /// Do stores carry the values they wrote?
    pub values: bool,
    /// Is known which files were mapped where, and what `msync` wrote back?
    pub mapped_files: bool,
    /// Is known which memory processes have in common?
    pub shared_memory: bool,
}

/// The code that scope `functions` is about, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedCode {
    /// Names of functions.
    pub functions: Vec<String>,
    /// Files' names or paths of modules (executables and libraries).
    pub modules: Vec<String>,
    /// `FILE:LINE`, `FILE:FIRST-LAST`, `FILE` or `MODULE+0xOFFSET`.
    pub places: Vec<String>,
}

impl NamedCode {
    /// All that was named.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let all = [&self.functions, &self.modules, &self.places];
        all.into_iter().flatten().map(String::as_str)
    }

    /// Was nothing named?
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// Which part of the run was recorded; all lengths in instructions of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// Left out at the start.
    pub skip: u64,
    /// Recorded after that; `null`: to the end.
    pub take: Option<u64>,
    /// Start of a window to the start of the next; `null`: one window only.
    pub period: Option<u64>,
    /// Only inside source regions.
    pub regions: bool,
}

/// A recorded process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessEntry {
    /// Its number in the trace: its block log is `process-N.blocks`.
    pub id: ProcessId,
    /// The kernel's id.
    pub pid: u32,
    /// The parent's pid.
    pub parent: u32,
    /// Its command line.
    pub command: Vec<String>,
    /// What its block log holds.
    pub log: LogTotals,
}

/// A recorded thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadEntry {
    /// Its number in the trace: its events are `thread-N.events`.
    pub id: ThreadId,
    /// Its process.
    pub process: ProcessId,
    /// The kernel's id; 0 where the recording was killed before it was noted.
    pub tid: u32,
    /// Ticks at its start, where known.
    pub start_ticks: Option<u64>,
    /// Ticks at its end, where known.
    pub end_ticks: Option<u64>,
    /// What its stream holds.
    #[serde(flatten)]
    pub totals: Totals,
    /// CRC-32 of the checksums of its stored blocks' headers, in order.
    pub checksum: u32,
}

/// A module in a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModuleEntry {
    /// The process.
    pub process: ProcessId,
    /// Absolute path at recording time.
    pub path: String,
    /// GNU build id, lower-case hex, empty where it has none.
    pub build_id: String,
    /// First address.
    pub start: u64,
    /// Address behind its last byte.
    pub end: u64,
    /// Address it was loaded at minus its preferred address.
    pub load_bias: u64,
}

/// What one stream, or the whole trace, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Instructions executed, those outside scope and windows included.
    pub instructions: u64,
    /// Block executions recorded.
    pub executions: u64,
    /// Events recorded, by kind.
    pub events: EventCounts,
    /// Raw words.
    pub words: u64,
    /// Bytes of the event streams.
    pub bytes: u64,
    /// Stored blocks.
    pub blocks: u64,
}

impl Totals {
    /// What one stored block adds.
    pub(crate) fn of(block: &StoredBlock) -> Self {
        Self {
            instructions: block.instrs,
            executions: block.execs,
            events: block.counts,
            words: block.words as u64,
            bytes: (HEADER + block.payload) as u64,
            blocks: 1,
        }
    }

    /// Bytes of the event streams an access (loads, stores, atomics).
    pub fn bytes_per_access(&self) -> Option<f64> {
        let accesses = self.events.accesses();
        (accesses > 0).then(|| self.bytes as f64 / accesses as f64)
    }
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        let add = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        add(&mut self.instructions, other.instructions);
        add(&mut self.executions, other.executions);
        self.events += other.events;
        add(&mut self.words, other.words);
        add(&mut self.bytes, other.bytes);
        add(&mut self.blocks, other.blocks);
    }
}

/// Counts of a run, stored or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCounts {
    /// Instructions executed.
    pub instructions: u64,
    /// Store instructions executed.
    pub stores: u64,
}

/// What the file of a recording of samples holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleTotals {
    /// Samples.
    pub count: u64,
    /// CRC-32 of the file.
    pub checksum: u32,
}

/// What the recorder knows at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordingInfo {
    /// The command line.
    pub command: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// Where.
    pub host: Host,
    /// With what.
    pub engine: Engine,
    /// Unit of ticks.
    pub clock: Clock,
    /// Bytes of a cache line.
    pub line_size: u32,
    /// Which accesses.
    pub scope: Scope,
    /// Which part of the run.
    pub windows: Windows,
}

/// The manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What the directory holds.
    pub kind: TraceKind,
    /// How far the recording came.
    pub state: RecordingState,
    /// Why it was given up.
    pub reason: Option<String>,
    /// Events that happened and are not in the trace. Prestore's recorder never drops any; it
    /// makes the program wait.
    pub dropped_events: u64,
    /// Start, milliseconds since 1970 (UTC).
    pub started_unix_ms: u64,
    /// End, milliseconds since 1970 (UTC).
    pub finished_unix_ms: Option<u64>,
    /// What the recorder knew at the start.
    #[serde(flatten)]
    pub info: RecordingInfo,
    /// Of recordings of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleTotals>,
    /// Sums over all threads.
    pub totals: Totals,
    /// Exact counts of the whole run, where less than the whole was stored.
    pub program: Option<ProgramCounts>,
    /// All processes, by id.
    pub processes: Vec<ProcessEntry>,
    /// All threads, by id.
    pub threads: Vec<ThreadEntry>,
    /// All modules of all processes, in order of loading.
    pub modules: Vec<ModuleEntry>,
}

pub(crate) fn blocks_file(process: ProcessId) -> String {
    format!("process-{}.blocks", process.0)
}

pub(crate) fn events_file(thread: ThreadId) -> String {
    format!("thread-{}.events", thread.0)
}

/// The number in a file name of the form `prefix` number `suffix`.
pub(crate) fn number_in(name: &str, prefix: &str, suffix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?
        .strip_suffix(suffix)?
        .parse()
        .ok()
}
