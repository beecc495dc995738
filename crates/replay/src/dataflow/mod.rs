//! Which load a later one waits for: registers that carry what was loaded to an address, or to a store.
//!
//! | part | what it is |
//! |---|---|
//! | `uses` | the registers that one instruction reads and writes |
//! | `flow` | what becomes of them in a block, worked out once |
//! | `carried` | which load each register's value came from, as a thread executes |
//!
//! Of several loads the youngest counts. Flags carry nothing, as what is behind a branch is executed ahead of it; what goes
//! through memory is the core's to know; arithmetic takes no time beyond its place in the pipeline.

mod carried;
mod flow;
mod uses;

pub(crate) use carried::Carried;
pub(crate) use flow::{Decoder, Flow, From};
