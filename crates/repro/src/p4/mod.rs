//! P4: failure-safe loops on a simulated PCM machine.
//!
//! The loops are those of `prestore-recompute`, recorded; `machines/thesis-pcm.toml` says how P4's table 3.1 is read.

mod columns;
mod crossing;
mod gemm;
mod kernels;
mod multiply;
mod schemes;
mod statistics;

pub use columns::Column;
pub use crossing::Crossing;
pub use gemm::GemmRows;
pub use kernels::OtherKernels;
pub use multiply::EightThreads;
pub use statistics::Statistics;

use crate::published::File;

/// What P4 publishes.
const FILE: File = File {
    path: "crates/repro/data/p4.toml",
    text: include_str!("../../data/p4.toml"),
};

/// The machine that P4 simulates.
const MACHINE: &str = "thesis-pcm";
