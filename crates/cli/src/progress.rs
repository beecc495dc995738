//! A line on stderr while a program runs or a recording is read.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use prestore_report::count;

/// Shows how much was done; silent where stderr is no terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    done: u64,
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
            calls: 0,
        }
    }

    /// So many more.
    pub fn add(&mut self, n: usize) {
        self.done += n as u64;
        self.calls += 1;
        if let Some(bar) = &self.bar
            && self.calls.is_multiple_of(EVERY)
        {
            bar.set_message(format!("{} {}", count(self.done), self.what));
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
