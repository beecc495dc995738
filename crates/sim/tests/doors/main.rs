//! What plugs into a machine: each door with one small user.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod agents;
mod idle;
mod probe;
mod program;
mod refusing;
mod stage;
mod types;
