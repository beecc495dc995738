//! Failure-safe loops: a long loop over arrays in persistent memory that goes on where a crash has cut it, after
//! Recompute (P4, chapter 3), with the schemes that P4 compares it to behind the same interface.
//!
//! A loop is described by a [`Nest`] (its outermost loop, its persistent arrays, the granularity of persistence) and a
//! [`Kernel`] (its body). A [`Session`] begins it on a [`Medium`], or finds it there and brings back what a crash tore,
//! and runs it to its end. `docs/recompute.md` shows how to write one.

#[cfg(target_endian = "big")]
compile_error!("the file format is that of little-endian machines");

mod advisor;
mod arrays;
#[cfg(feature = "capi")]
mod capi;
mod checkpoint;
mod engine;
mod error;
mod file;
mod flusher;
mod header;
mod hybrid;
mod kernel;
pub mod kernels;
mod layout;
mod logging;
mod medium;
mod meeting;
mod memory;
mod nest;
pub mod program;
mod recover;
mod region;
mod scheme;
mod session;
mod shape;
mod steps;

pub use advisor::{Advice, Level, Measured, checkpoint_cost, crossing};
pub use arrays::{Arrays, Element, Elements};
pub use error::Error;
pub use file::{Durability, File};
pub use kernel::{Initial, Kernel};
pub use medium::Medium;
pub use memory::Memory;
pub use nest::{Array, Dependence, Nest, Order, Tiles};
pub use scheme::Scheme;
pub use session::{Options, Report, Session, State};
