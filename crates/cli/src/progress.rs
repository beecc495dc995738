//! A line on stderr while a program runs or a recording is read.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use prestore_report::{bytes, count};

/// Shows how much was done; silent where stderr is no terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    done: u64,
    /// Bytes on disk; 0 where nothing is kept.
    bytes: u64,
    calls: u64,
}

/// Calls between two updates of the line.
const EVERY: u64 = 256;

impl Progress {
    /// Counts `what` ("recorded values"). `quiet`: say nothing.
    pub fn new(quiet: bool, what: &'static str) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            what,
            done: 0,
            bytes: 0,
            calls: 0,
        }
    }

    /// So many bytes were kept of it.
    pub fn size(&mut self, kept: u64) {
        self.bytes = kept;
    }

    /// So many more.
    pub fn add(&mut self, n: usize) {
        self.done += n as u64;
        self.calls += 1;
        if let Some(bar) = &self.bar
            && self.calls.is_multiple_of(EVERY)
        {
            let kept = match self.bytes {
                0 => String::new(),
                n => format!(", {}", bytes(n)),
            };
            bar.set_message(format!("{} {}{kept}", count(self.done), self.what));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
