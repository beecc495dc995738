//! What a host offers to Prestore: `prestore doctor`.
//!
//! [`Facts::gather`] looks at the host; [`examine`] turns facts into [`Diagnosis`] without looking at
//! anything else, so that every lack can be shown with its cause and cure on any machine. Nothing
//! checked here stops Prestore except a missing engine or a full shared memory; each lack says what is
//! done instead.

mod check;
mod checks;
mod examine;
mod facts;
mod text;

pub use check::{Check, Diagnosis, SCHEMA_VERSION, Status};
pub use examine::examine;
pub use facts::{Cpu, CpuFeature, Directory, Engine, Facts, FeatureName, Memory, Space};
pub use prestore::switch_names;
pub use text::render;
