//! The words every other crate speaks: events and the strong types of their parts.

mod event;
mod units;

pub use event::{DemoteKind, Event, EventKind, FenceKind, FlushKind};
pub use units::{Bytes, LineAddr, ProcessId, ThreadId};
