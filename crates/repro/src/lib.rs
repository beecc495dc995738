//! Published tables and figures, the experiments behind them, and ours beside them.
//!
//! Each [`Experiment`] is named by paper and figure. Published numbers are data files in `data/`,
//! each with its source; an experiment simulates (or computes) the same and reports both.

mod error;
mod experiment;
mod lab;
pub mod optane;
pub mod p0;
pub mod p1;
pub mod p4;
mod processor;
mod published;
mod report;
mod text;

pub use error::ReproError;
pub use experiment::{Experiment, Options, experiments, find};
pub use report::{Deviation, Report, Row};
pub use text::render;
