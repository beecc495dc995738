//! The programs of `workloads/pm` survive a power cut at any time, and their checks see when one would not.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod images;
mod low_level;

pub use images::{Case, survives, the_defect_is_seen};
