//! Whole runs: all parts together, against closed formulas.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod accepted;
mod cold_lines;
mod counted;
mod formulas;
mod listing1;
mod refused;
mod source;
mod strings;
mod triad;
