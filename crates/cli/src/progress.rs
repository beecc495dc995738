//! A line on stderr while a program runs or a recording is read.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use prestore_report::{bytes, count};
use prestore_trace::container::Trace;

/// Shows how much was done; silent where stderr is no terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    done: u64,
    /// How much there is; `None`: nobody knows.
    total: Option<u64>,
    /// Bytes on disk; 0 where nothing is kept.
    bytes: u64,
    calls: u64,
}

/// Calls between two updates of the line, but for as many at the beginning.
const EVERY: u64 = 256;
/// Time between two looks at what runs by itself.
const LOOK: Duration = Duration::from_millis(200);
/// What is shown where the end is known.
const UNTIL: &str = "{spinner} {elapsed} {msg}{left}";

impl Progress {
    /// Counts `what` ("recorded words"). `quiet`: say nothing.
    pub fn new(quiet: bool, what: &'static str) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(LOOK);
            bar
        });
        Self {
            bar,
            what,
            done: 0,
            total: None,
            bytes: 0,
            calls: 0,
        }
    }

    /// There is so much to do.
    pub fn until(mut self, total: u64) -> Self {
        self.expect(total);
        self
    }

    fn expect(&mut self, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            if let (None, Ok(style)) = (self.total, ProgressStyle::with_template(UNTIL)) {
                let rest = |state: &ProgressState, out: &mut dyn Write| {
                    // A line that cannot be written is not shown.
                    let _ = out.write_str(&left(state.eta()));
                };
                bar.set_style(style.with_key("left", rest));
            }
        }
        self.total = Some(total);
    }

    /// One more, and so many are left.
    pub fn one_with(&mut self, left: usize) {
        self.expect(self.done + 1 + left as u64);
        self.add(1);
    }

    /// So many bytes were kept of it.
    pub fn size(&mut self, kept: u64) {
        self.bytes = kept;
    }

    /// So many more.
    pub fn add(&mut self, n: usize) {
        self.done += n as u64;
        self.calls += 1;
        if let (Some(bar), Some(line)) = (&self.bar, self.line()) {
            bar.set_position(self.done);
            bar.set_message(line);
        }
    }

    /// What is shown now; `None`: what was shown before stays.
    fn line(&self) -> Option<String> {
        let changes = self.calls <= EVERY || self.calls.is_multiple_of(EVERY);
        let kept = match self.bytes {
            0 => String::new(),
            n => format!(", {}", bytes(n)),
        };
        let of = match self.total {
            None => String::new(),
            Some(total) => format!("of {} ", count(total)),
        };
        changes.then(|| format!("{} {of}{}{kept}", count(self.done), self.what))
    }
}

/// What is said of the time that is left: nothing before there is an estimate, which is 0 until then.
fn left(eta: Duration) -> String {
    match eta.as_secs() {
        0 => String::new(),
        _ => format!(", {:#} left", HumanDuration(eta)),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how much of a recording was read; silent where stderr is no terminal.
pub struct Reading(Option<(Arc<AtomicBool>, JoinHandle<()>)>);

impl Reading {
    /// Of `trace`, which is read so many `times`. `quiet`: say nothing.
    pub fn new(quiet: bool, trace: &Trace, times: u64) -> Self {
        Self::of(quiet, trace, times, "accesses")
    }

    /// Of `trace`, whose threads are read twice for what they hand over to each other.
    pub fn for_hand_offs(quiet: bool, trace: &Trace) -> Self {
        Self::of(quiet, trace, 2, "accesses searched for hand-offs")
    }

    fn of(quiet: bool, trace: &Trace, times: u64, what: &'static str) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self(shown.then(|| {
            let totals = &trace.manifest().totals;
            let (words, accesses) = (totals.words * times, totals.events.accesses());
            let mut progress = Progress::new(false, what).until(accesses.max(1));
            let read = trace.words_read();
            let over = Arc::new(AtomicBool::new(false));
            let told = Arc::clone(&over);
            let watcher = std::thread::spawn(move || {
                while !told.load(Ordering::Relaxed) {
                    std::thread::park_timeout(LOOK);
                    let now = accesses_of(read.load(Ordering::Relaxed), words, accesses);
                    progress.add(now.saturating_sub(progress.done) as usize);
                }
            });
            (over, watcher)
        }))
    }
}

/// How many of `accesses` stand in `read` of `words`, if all take as many: what people count, where words are what is read.
fn accesses_of(read: u64, words: u64, accesses: u64) -> u64 {
    let part = u128::from(read.min(words)) * u128::from(accesses);
    (part / u128::from(words.max(1))) as u64
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some((over, watcher)) = self.0.take() {
            over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            let _it_only_shows = watcher.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_a_few_is_shown_and_how_many_there_are() {
        let mut progress = Progress::new(true, "runs");
        for done in 1..=3 {
            progress.one_with(12 - done);
            assert_eq!(progress.line(), Some(format!("{done} of 12 runs")));
        }
        // Some were not known of.
        progress.one_with(16);
        assert_eq!(progress.line(), Some("4 of 20 runs".into()));
    }

    #[test]
    fn no_time_is_said_to_be_left_before_there_is_an_estimate() {
        assert_eq!(left(Duration::ZERO), "");
        assert_eq!(left(Duration::from_secs(5)), ", 5s left");
    }

    #[test]
    fn what_was_read_is_told_in_accesses() {
        let told = [0, 300, 600, 700].map(|read| accesses_of(read, 600, 100));
        assert_eq!(told, [0, 50, 100, 100]);
        assert_eq!(accesses_of(5, 0, 0), 0);
    }

    #[test]
    fn of_many_some_are_shown() {
        let mut progress = Progress::new(true, "recorded words");
        let shown = (0..10_000).filter(|_| {
            progress.add(1000);
            progress.line().is_some()
        });
        assert_eq!(shown.count(), 256 + 10_000 / 256 - 1);
        progress.size(5_000_000);
        progress.calls = EVERY;
        assert_eq!(
            progress.line(),
            Some("10.0 M recorded words, 5.00 MB".into())
        );
    }
}
