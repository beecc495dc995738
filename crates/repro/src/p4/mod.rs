//! P4: failure-safe loops on a simulated PCM machine.
//!
//! The loops are those of `prestore-recompute`, recorded; `machines/thesis-pcm.toml` says how P4's table 3.1 is read.

mod multiply;
mod schemes;

pub use multiply::{EightThreads, OneThread};

use crate::published::File;

/// What P4 publishes.
const FILE: File = File {
    path: "crates/repro/data/p4.toml",
    text: include_str!("../../data/p4.toml"),
};

/// The machine that P4 simulates.
const MACHINE: &str = "thesis-pcm";
