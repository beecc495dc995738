//! Runs of which only units are simulated in detail, as SMARTS does it (Wunderlich et al., ISCA 2003, section 3).
//!
//! Before a unit, its source gives operations that only warm caches and memories ([`warming`]: functional warming); then
//! cores execute the unit, of which the first part is not measured either (detailed warming: pipelines, store
//! buffers, queues). What is measured is the time in which all threads together pass a number of operations, told by the
//! [`TICK`]s among them: however a mechanism rewrites the program, the same part of it is measured.

#[cfg(test)]
mod agrees;
mod filter;
mod fold;
mod simulation;
mod source;
mod unit;
mod units;
mod warming;

pub use simulation::UnitSimulation;
pub use source::{TICK, TICK_OPS, UnitAhead, UnitSource};
pub(super) use unit::{Left, Unit};
pub use units::MeasuredUnits;
