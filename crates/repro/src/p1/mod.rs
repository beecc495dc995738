//! P1: caching modes for persistent data, on a Xeon E5620 and today.
//!
//! Each mode's program is the one that is written for it (`workloads/modes`), recorded; its file is of the mode's memory type.

mod array;
mod flush;
mod modes;
mod structures;
mod today;

pub use array::Loop;
pub use structures::Structures;
pub use today::Today;

use crate::published::File;

/// What P1 publishes.
const FILE: File = File {
    path: "crates/repro/data/p1.toml",
    text: include_str!("../../data/p1.toml"),
};

/// The machine that P1 measured.
const MACHINE: &str = "hp-e5620";
