//! The tracer's lock-free protocol, run by loom in all interleavings that the memory model allows.
//!
//! A crate of its own, so that no other crate is compiled for loom: it takes in the very file that
//! the tracer uses for the host's side, `tracer/src/channel/protocol.rs`. The client's side is C
//! (`tracer/client/ring.h`) and written down once more here, step by step ([`client`]); the
//! original runs under a checker of data races in `tracer/tests/ring_tsan.rs`.
//!
//! Time limits do not exist in the model: who sleeps and is not woken sleeps forever, and loom
//! reports the deadlock. So no progress relies on a limit.
#![cfg(test)]

mod client;
mod host;
#[path = "../../tracer/src/channel/protocol.rs"]
mod protocol;
mod shared;
mod tests;
