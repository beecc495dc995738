//! What a recorded program did to memory: the vocabulary, the record format and the container.
//!
//! Design constraints:
//! - no OS calls beyond files, so that a trace can be read anywhere;
//! - live and stored input meet in one place: both are *words* (see [`record`]), replayed by
//!   [`replay::Replayer`] into block executions and events;
//! - the tracer's C client and this crate share one binary layout, written down in [`block`],
//!   [`record`] and `crates/tracer/client/wire.h`.

pub mod block;
pub mod container;
pub mod content;
#[cfg(feature = "parquet")]
pub mod export;
pub mod filter;
pub mod import;
pub mod record;
pub mod replay;
mod site;
mod vocabulary;

pub use site::{InternSites, Module, ModuleId, Site, SiteId, SiteTable};
pub use vocabulary::{
    Bytes, DemoteKind, Event, EventKind, FenceKind, FlushKind, LineAddr, ProcessId, ThreadId,
};
