//! What the tests of crashes share.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test uses a part, and may fail"
)]

mod log;

pub use log::{Event, Recorder, survivors_log};
