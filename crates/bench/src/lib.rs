//! `prestore bench`: the workloads run natively with each pre-store, beside their unchanged selves.
//!
//! * [`Plan`] says what is run: cases (a program with its size and threads), and the variants of each.
//! * [`run`] runs a plan, all variants of a case in turn in every round, so that noise hits all alike; how a program
//!   is executed is the caller's to say, [`execute`] does it for real.
//! * [`predict`] puts simulated figures beside the measured ones; how a program is simulated is the caller's to say, too.
//! * [`Results`] are medians, spreads and speedups by pairs, as the JSON output; [`render`] is the table.
//!
//! [`bench_types`] measures memory of each type where the kernel module is loaded; [`render_types`] is its table.
//!
//! The programs are those of `workloads/`, compiled into this crate: [`program_main`] is their common entry, which the
//! command calls in a process of its own for each run. No files need to be installed, unpacked or found.

mod accuracy;
mod error;
mod execute;
mod memory_types;
mod operations;
mod plan;
mod predict;
mod program;
mod programs;
mod results;
mod run;
mod text;
mod variant;

pub use accuracy::{HostAccuracy, OperationAccuracy};
pub use error::BenchError;
pub use execute::{Outcome, execute};
pub use memory_types::{TYPES_SCHEMA_VERSION, TypeResult, TypeResults, bench_types, render_types};
pub use operations::Operation;
pub use plan::{Case, Options, Plan};
pub use predict::{BetweenCores, Predicted, Prediction, predict};
pub use program::Program;
pub use programs::program_main;
pub use results::{CaseResult, Results, SCHEMA_VERSION, VariantResult};
pub use run::{Step, run};
pub use text::render;
pub use variant::Variant;
