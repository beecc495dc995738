//! The run: threads on cores, time, results.
//!
//! Each thread of the trace is pinned to a core of its own. The core whose clock is furthest behind
//! goes on, until it is a *quantum* ahead of the next one, ends, or waits for a hand-off of another
//! thread: then its core is parked and costs nothing until the hand-off is published.

mod ahead;
mod chip;
mod controllers;
mod erased;
mod error;
mod handoffs;
mod helpers;
mod locks;
mod measuring;
mod pipeline;
mod ready;
mod run;
mod sampled;
mod simulation;
mod source;
mod thread;
mod types;
mod waking;
mod window;

pub use chip::{CallSites, Chip};
pub use error::SimulationError;
pub use pipeline::{Pipeline, Ran, Uncore};
pub use run::{Finished, Plan, Run};
pub use sampled::{MeasuredUnits, TICK, TICK_OPS, UnitAhead, UnitSimulation, UnitSource};
pub use simulation::Simulation;
pub(crate) use simulation::quantum;
pub use source::{Next, Source};
pub use window::Interest;
