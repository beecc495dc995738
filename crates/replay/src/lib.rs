//! From a stored recording to what the simulator executes.
//!
//! [`TraceSource`] is the simulator's [`prestore_sim::Source`]: it decodes each thread's words as
//! they are asked for and turns block executions into [`prestore_sim::Op`]s. [`HandOffs`] says
//! what of the recorded order between threads is kept. [`StackGuess`] says where a thread's stack
//! may be. [`Replay`] puts them and a [`prestore_sim::Simulation`] together.
//!
//! Processes have address spaces of their own ([`Space`]), and in common what they share ([`ProcessMemory`]); instructions that were not recorded
//! elapse or are left out ([`Gaps`]); an allocation's site is the call that asked for it.

mod ahead;
mod at_once;
mod awaited;
mod callers;
mod chosen;
mod copies;
mod cursor;
mod dataflow;
mod error;
mod expand;
mod first;
mod handoff;
mod lane;
mod lanes;
mod lines;
mod marks;
mod options;
mod ordered;
mod plan;
mod rebuild;
mod replay;
mod sample;
mod seek;
mod source;
mod space;
mod stacks;
mod stored;
mod watched;

pub use at_once::at_once;
pub use chosen::need_values;
pub use error::SourceError;
pub use handoff::{Endpoint, HandOffCounts, HandOffs, LOOK_BACK, LOOP};
pub use options::{Gaps, Options, Waits};
pub use ordered::{Executor, OrderedSink, in_order, in_order_of_waits};
pub use rebuild::{Counts, Memory, PAGE, Rebuild};
pub use replay::Replay;
pub use sample::Sample;
pub use source::{TraceSource, threads_at_once};
pub use space::{ProcessMemory, Space};
pub use stacks::StackGuess;
