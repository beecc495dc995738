//! Symbols of real programs, compiled by the tests.

// The allowances of `clippy.toml` reach test functions only, not the helpers they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod build;
mod hostile;
mod inspect;
mod languages;
mod modules;
mod separate;
