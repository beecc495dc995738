//! How far the checks have come, on stderr.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar where stderr is a terminal.
pub struct Shown(Option<ProgressBar>);

const FORM: &str = "{elapsed} [{bar:30}] {pos} of {len} images, {msg} failed, {eta} left";

impl Shown {
    pub fn new(quiet: bool, total: u64, done: u64, failed: usize) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self(shown.then(|| {
            let bar = ProgressBar::new(total).with_position(done);
            if let Ok(style) = ProgressStyle::with_template(FORM) {
                bar.set_style(style);
            }
            bar.set_message(failed.to_string());
            bar.reset_eta();
            bar
        }))
    }

    pub fn one_more(&self, failed: usize) {
        if let Some(bar) = &self.0 {
            bar.set_message(failed.to_string());
            bar.inc(1);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
