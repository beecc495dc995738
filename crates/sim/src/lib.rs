//! The trace-driven simulator: cores, caches, coherence, memory controllers, devices.
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
