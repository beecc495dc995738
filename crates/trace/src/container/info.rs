//! What `prestore trace info` prints.

use serde::Serialize;

use super::manifest::{Manifest, ModuleEntry, RecordingState, Scope, Totals, Windows};
use super::{Damage, EventCounts, Trace};

/// A summary of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// Version of the container.
    pub schema_version: u32,
    /// How far the recording came.
    pub state: RecordingState,
    /// Why it was given up, where it was.
    pub reason: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// Wall-clock time of the recording in seconds, where it came to its end.
    pub seconds: Option<f64>,
    /// Which accesses were recorded.
    pub scope: Scope,
    /// Which part of the run.
    pub windows: Windows,
    /// Processes.
    pub processes: usize,
    /// Threads.
    pub threads: usize,
    /// Instructions executed, those outside scope and windows included.
    pub instructions: u64,
    /// Events by kind.
    pub events: EventCounts,
    /// Loads, stores and atomics.
    pub accesses: u64,
    /// Events that happened and are not in the trace.
    pub dropped_events: u64,
    /// Bytes of the event streams.
    pub event_bytes: u64,
    /// Bytes of the event streams an access.
    pub bytes_per_access: Option<f64>,
    /// Stored blocks: pieces that can be decoded by themselves.
    pub stored_blocks: u64,
    /// Modules, each once.
    pub modules: Vec<ModuleInfo>,
    /// Instructions in code that the engine could not decode: their accesses are missing.
    pub unknown_opcodes: usize,
    /// What is missing because the recording was killed or files are corrupt.
    pub damage: Vec<DamageInfo>,
}

/// A module of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ModuleInfo {
    /// Absolute path at recording time.
    pub path: String,
    /// GNU build id, empty where it has none.
    pub build_id: String,
}

/// A part that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamageInfo {
    /// The file.
    pub file: String,
    /// Where, bytes into the file.
    pub offset: u64,
    /// How much, bytes.
    pub bytes: u64,
    /// In words.
    pub message: String,
}

impl From<&Damage> for DamageInfo {
    fn from(damage: &Damage) -> Self {
        Self {
            file: damage.path.display().to_string(),
            offset: damage.offset,
            bytes: damage.bytes,
            message: damage.to_string(),
        }
    }
}

impl Trace {
    /// A summary; reads no events.
    pub fn info(&self) -> Info {
        let Manifest {
            schema_version,
            state,
            reason,
            dropped_events,
            started_unix_ms,
            finished_unix_ms,
            info,
            totals,
            processes,
            threads,
            modules,
            ..
        } = self.manifest();
        let Totals {
            instructions,
            events,
            bytes,
            blocks,
            ..
        } = *totals;
        let ms = finished_unix_ms.map(|end| end.saturating_sub(*started_unix_ms));
        Info {
            schema_version: *schema_version,
            state: *state,
            reason: reason.clone(),
            command: info.command.clone(),
            seconds: ms.map(|ms| ms as f64 / 1e3),
            scope: info.scope.clone(),
            windows: info.windows.clone(),
            processes: processes.len(),
            threads: threads.len(),
            instructions,
            events,
            accesses: events.accesses(),
            dropped_events: *dropped_events,
            event_bytes: bytes,
            bytes_per_access: totals.bytes_per_access(),
            stored_blocks: blocks,
            modules: each_once(modules),
            unknown_opcodes: processes
                .iter()
                .map(|p| self.unknown_opcodes(p.id).len())
                .sum(),
            damage: self.damage().iter().map(DamageInfo::from).collect(),
        }
    }
}

fn each_once(modules: &[ModuleEntry]) -> Vec<ModuleInfo> {
    let mut seen = std::collections::HashSet::new();
    let all = modules.iter().map(|m| ModuleInfo {
        path: m.path.clone(),
        build_id: m.build_id.clone(),
    });
    all.filter(|m| seen.insert(m.clone())).collect()
}
