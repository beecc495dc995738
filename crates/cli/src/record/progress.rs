//! A line on stderr while the program runs.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use prestore_report::count;

/// Shows how much was recorded; silent where stderr is no terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    words: u64,
    buffers: u64,
}

/// Buffers between two updates of the line.
const EVERY: u64 = 256;

impl Progress {
    /// `quiet`: say nothing.
    pub fn new(quiet: bool) -> Self {
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
            words: 0,
            buffers: 0,
        }
    }

    /// Another buffer of so many words.
    pub fn add(&mut self, words: usize) {
        self.words += words as u64;
        self.buffers += 1;
        if let Some(bar) = &self.bar
            && self.buffers.is_multiple_of(EVERY)
        {
            bar.set_message(format!("{} recorded values", count(self.words)));
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
