//! The engine between mock neighbours.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod in_step;
mod locks;
mod loops;
mod measuring;
mod mechanisms;
mod mock;
