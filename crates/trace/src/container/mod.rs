//! The trace container: a directory of a manifest, block logs and event streams.
//!
//! `docs/trace-format.md` describes every byte of it.

mod codec;
mod counts;
mod info;
mod manifest;
mod manifest_file;
mod pieces;
mod reader;
mod stored;
mod writer;

pub use codec::{
    BLOCK_WORDS, DecodeError, Decoded, Decoder, EncodeError, Encoded, Encoder, MAX_RECORD,
};
pub use counts::{EventCounts, kind_name};
pub use info::{DamageInfo, Info, ModuleInfo};
pub use manifest::{
    Clock, Engine, FORMAT, Host, MANIFEST, Manifest, ModuleEntry, NamedCode, ProcessEntry,
    ProgramCounts, RecordingInfo, RecordingState, SCHEMA_VERSION, SampleTotals, Scope, ThreadEntry,
    Totals, TraceKind, Windows,
};
pub(crate) use manifest_file::write as write_manifest;
pub use pieces::LogTotals;
pub use reader::{
    Damage, DamageKind, Lost, Merged, ReadError, ReadOptions, Segment, StreamReader, Trace,
    read_manifest,
};
pub use stored::{StoredBlock, further_lines};
pub use writer::{
    Existing, Outcome, StreamWriter, TABLE_NAMES, TABLES, TraceWriter, WriteError,
    remove as remove_recording,
};
pub(crate) use writer::{prepare, write_file};
