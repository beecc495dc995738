//! Runs a program under the instrumentation engine and hands on what it does to memory.
//!
//! [`record`] starts the program, reads the shared buffers that the client in each traced process
//! fills (`client/`), keeps the processes' block tables, and delivers everything to a [`Sink`]:
//! the container's writer, the analysis, or both. A full buffer makes the program wait; nothing is
//! dropped.

mod channel;
mod engine;
mod error;
mod image;
mod inherited;
mod launch;
mod note;
mod options;
mod pump;
mod sink;
mod trial;

pub use channel::{PREFIX as SCRATCH_PREFIX, in_use, sweep};
pub use engine::{Engine, EngineError};
pub use error::RecordError;
pub use inherited::{close_again, stdout_is_closed};
pub use launch::resolve;
pub use note::Note;
pub use options::{Allocations, Bursts, Options, ProgramOutput, Region, Scope, Window};
pub use pump::{Coverage, Enough, Interrupts, Outcome, record, record_reading};
pub use sink::{Counts, ProcessInfo, Sink, SinkError, Stream};
pub use trial::{Change, Fate, Found, Operation, Trial, Tried, trial};
