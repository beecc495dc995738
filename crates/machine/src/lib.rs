//! Machine and device descriptions (TOML in, checked and resolved configuration out).
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
