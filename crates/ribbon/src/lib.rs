//! The flush runtime after Ribbon (P2).
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
