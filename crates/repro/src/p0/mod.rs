//! P0: pre-stores on machines A (large units, random evictions) and B (far directory, weak stores).

mod fence;
mod kv;
mod listing1;
mod listing3;
mod overhead;
mod ring;
mod whatif;

pub use fence::Fence;
pub use kv::{Kv, KvFence, KvSmall};
pub use listing1::{Amplification, Skip};
pub use listing3::Rewritten;
pub use overhead::Overhead;
pub use ring::Ring;
pub use whatif::WhatIf;

use prestore_sim::Results;

use crate::published::File;

/// What P0 publishes.
const FILE: File = File {
    path: "crates/repro/data/p0.toml",
    text: include_str!("../../data/p0.toml"),
};

/// What region 1 of the workloads is: the phase that counts.
const MEASURED: Option<u64> = Some(1);

/// How much longer `a` took than `b`.
fn times(a: &Results, b: &Results) -> f64 {
    a.seconds / b.seconds
}

/// Media bytes for each byte sent; without any, there was no amplification.
fn amplification(results: &Results) -> f64 {
    results.write_amplification.unwrap_or(1.0)
}
