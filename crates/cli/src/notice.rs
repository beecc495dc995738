//! What is told on stderr beside the result, unless `--quiet`.

use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on nothing but errors is told.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Tells `text` on stderr, unless the user asked for quiet.
pub fn tell(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        eprintln!("prestore: {text}");
    }
}
