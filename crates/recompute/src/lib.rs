//! Failure-safe loops after Recompute (P4).
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
