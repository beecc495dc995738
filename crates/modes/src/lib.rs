//! Which caching mode for which data (P1): ranges of a recorded program's memory in other modes, as if the program had been
//! written for them.
//!
//! A [`Mode`] is a memory type and what a program must do so that its stores are persistent in their order. An
//! [`Assignment`] gives a mode to a range; [`locate`] finds where the ranges lie in a recording; [`fitted`] makes the machine whose
//! memory is so, and the [`Fitted`] mechanism rewrites flushes and fences as the mode needs them. [`Comparison`] tries
//! every mode for every range.

mod assignment;
mod compare;
mod error;
mod fitted;
mod locate;
mod machine;
mod mode;
mod ranges;
mod report;
mod simulate;
mod text;
mod thread;

pub use assignment::Assignment;
pub use compare::Comparison;
pub use error::ModesError;
pub use fitted::{Counts, Fitted};
pub use locate::{Located, locate};
pub use machine::fitted;
pub use mode::Mode;
pub use ranges::Ranges;
pub use report::{MachineModes, ModeCost, ModesReport, RangeModes, SCHEMA_VERSION, Together};
pub use simulate::{Chosen, Way};
pub use text::render;
