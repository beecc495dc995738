//! From the tree to Rust's types, by serde.
//!
//! The tree has its own deserializer because errors must name the file and line of the value, out of
//! several files, and because all unknown keys are to be found at once.

mod error;
mod node;
mod sections;
mod variant;

pub use sections::{Sections, Unnamed};
