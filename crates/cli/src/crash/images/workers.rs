//! Many checks at once. Each worker goes through the plan by itself and takes the images whose numbers
//! it has drawn: making an image is nothing beside starting a command.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use prestore_crash::{CrashImage, Logged};

use super::checker::{Checker, Ended};
use super::desk::{Desk, Parts};
use super::plan::Plan;
use super::progress::Shown;
use super::state::{Failure, State, Stored};
use crate::error::CliError;

/// Failures of which more is known than that they were.
const KEPT: usize = 1000;
/// How often the state is written.
const SAVED: Duration = Duration::from_secs(1);

/// What all workers need.
pub struct Work<'a> {
    pub logged: &'a Logged,
    pub plan: &'a Plan,
    pub checker: &'a Checker,
    pub parts: &'a Parts,
    pub scratch: Option<&'a Path>,
    pub jobs: usize,
    pub quiet: bool,
    pub stored: Option<&'a Stored>,
    /// After so many checks in a row without an answer it stops; 0: never.
    pub hangs: u32,
}

/// What was checked.
pub struct Done {
    pub state: State,
    /// Images that were checked, those of an earlier run among them.
    pub tried: u64,
    /// It has stopped, as so many checks in a row had no answer.
    pub hung: Option<u32>,
}

struct Shared<'a> {
    work: &'a Work<'a>,
    next: AtomicU64,
    stop: AtomicBool,
    /// What each worker is at.
    at: Vec<AtomicU64>,
    book: Mutex<Book>,
    shown: Shown,
}

struct Book {
    state: State,
    saved: Instant,
    tried: u64,
    /// Checks without an answer since the last that had one.
    hanging: u32,
    hung: Option<u32>,
}

impl Work<'_> {
    /// Checks what is left of `state`.
    pub fn all(&self, state: State) -> Result<Done, CliError> {
        let done = state.done;
        let left = self.plan.total.saturating_sub(done);
        let jobs = self.jobs.min(usize::try_from(left).unwrap_or(usize::MAX));
        let shared = Shared {
            work: self,
            next: AtomicU64::new(done),
            stop: AtomicBool::new(false),
            at: (0..jobs).map(|_| AtomicU64::new(done)).collect(),
            shown: Shown::new(self.quiet, self.plan.total, done, state.failed.len()),
            book: Mutex::new(Book {
                state,
                saved: Instant::now(),
                tried: done,
                hanging: 0,
                hung: None,
            }),
        };
        let ended: Vec<Result<(), CliError>> = std::thread::scope(|scope| {
            let shared = &shared;
            let threads: Vec<_> = (0..jobs)
                .map(|me| scope.spawn(move || shared.worker(me)))
                .collect();
            let ends = threads.into_iter().map(|t| {
                let crashed = |_| Err(CliError::Failed("a worker has crashed".to_owned()));
                t.join().unwrap_or_else(crashed)
            });
            ends.collect()
        });
        let under_way = under_way(&shared.at);
        let book = (shared.book.into_inner()).unwrap_or_else(PoisonError::into_inner);
        let hung = book.hung.filter(|_| book.tried < self.plan.total);
        let mut state = book.state;
        state.failures.sort_by_key(|f| f.number);
        let ended: Result<(), CliError> = ended.into_iter().collect();
        if ended.is_ok() {
            state.done = match hung {
                None => self.plan.total,
                Some(_) => under_way.clamp(state.done, self.plan.total),
            };
        }
        if let Some(stored) = self.stored {
            stored.save(&state)?;
        }
        ended.map(|()| Done {
            state,
            tried: book.tried,
            hung,
        })
    }
}

impl Shared<'_> {
    fn worker(&self, me: usize) -> Result<(), CliError> {
        let work = self.work;
        let mut desk = Desk::new(work.scratch)?;
        let mut mine = self.draw(me);
        let error = work.plan.each(&work.logged.log, |image| {
            if self.stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(None);
            }
            if image.number() < mine {
                return ControlFlow::Continue(());
            }
            if let Err(error) = self.check(image, &mut desk) {
                self.stop.store(true, Ordering::Relaxed);
                return ControlFlow::Break(Some(error));
            }
            mine = self.draw(me);
            ControlFlow::Continue(())
        });
        // It has done all that it drew.
        if error.is_none() {
            self.at[me].store(u64::MAX, Ordering::Relaxed);
        }
        error.flatten().map_or(Ok(()), Err)
    }

    fn draw(&self, me: usize) -> u64 {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        self.at[me].store(mine, Ordering::Relaxed);
        mine
    }

    fn check(&self, image: &CrashImage<'_>, desk: &mut Desk) -> Result<(), CliError> {
        let work = self.work;
        let bytes = work.logged.image(image.bytes());
        let ended = desk.check(work.checker, work.parts, bytes)?;
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.tried += 1;
        book.hanging = match ended {
            Ended::Timeout(_) => book.hanging + 1,
            _ => 0,
        };
        if book.hanging == work.hangs && work.hangs > 0 {
            book.hung = Some(work.hangs);
            self.stop.store(true, Ordering::Relaxed);
        }
        let state = &mut book.state;
        let new = !ended.is_good() && state.failed.insert(image.number());
        if new && state.failures.len() < KEPT {
            state.failures.push(Failure {
                number: image.number(),
                place: image.place(),
                ended,
                said: desk.said(),
            });
        }
        self.shown.one_more(state.failed.len());
        if let Some(stored) = work.stored
            && book.saved.elapsed() >= SAVED
        {
            // This one is still in `at`, and is checked again if it is stopped now.
            book.state.done = under_way(&self.at).max(book.state.done);
            book.saved = Instant::now();
            stored.save(&book.state)?;
        }
        Ok(())
    }
}

/// All images below have been checked, where workers are at these.
fn under_way(at: &[AtomicU64]) -> u64 {
    let at = at.iter().map(|a| a.load(Ordering::Relaxed));
    at.min().unwrap_or(0)
}
