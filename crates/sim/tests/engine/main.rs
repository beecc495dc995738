//! The engine between mock neighbours.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod loops;
mod measuring;
mod mechanisms;
mod mock;
