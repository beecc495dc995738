//! The pre-store operations, run-time detection and the C ABI behind `include/prestore.h`.
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
