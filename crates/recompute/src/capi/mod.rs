//! The C ABI behind `include/prestore_recompute.h`, which documents each function.

mod advise;
mod describe;
mod loops;
mod message;
