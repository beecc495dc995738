//! What is told on stderr beside the result, unless `--quiet`.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use prestore_report::{TextOptions, message_text};

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on nothing but errors is told.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Tells `text` on stderr, unless the user asked for quiet.
pub fn tell(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        say(text);
    }
}

/// Says `text` on stderr, in lines that fit where that is a terminal; nothing where nobody can hear it (a full disk, a reader that
/// went away).
pub fn say(text: &str) {
    const LABEL: &str = "prestore: ";
    let said = match TextOptions::width_of_stderr() {
        Some(width) => message_text(LABEL, text, width),
        None => format!("{LABEL}{text}\n"),
    };
    let _ = io::stderr().write_all(said.as_bytes());
}
