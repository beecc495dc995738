//! Runs a loop: brings back what a crash tore, then lets the workers go on.

use crate::arrays::Arrays;
use crate::layout::{FINISHED, progress};
use crate::medium::{load_word, persist_word};
use crate::meeting::{Attendance, Meeting};
use crate::region::Marked;
use crate::session::{Plan, Report};
use crate::steps::Step;
use crate::{Error, Kernel, Medium, Order, Scheme};

pub(crate) struct Engine<'a, K, M> {
    pub kernel: &'a K,
    pub medium: &'a M,
    pub plan: &'a Plan,
    pub marked: Marked,
    /// Nobody has run it: the arrays hold what was there before the loop.
    pub untouched: bool,
}

/// A word of progress: how many of a worker's steps are done, and whether what the last of them is to copy aside is
/// copied. One word, so that it is durable whole or not at all; P4 keeps an index a loop and logs them.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    pub done: u64,
    pub copied: bool,
}

impl Progress {
    pub fn word(self) -> u64 {
        2 * self.done + u64::from(self.copied)
    }

    pub fn of(word: u64) -> Progress {
        Progress {
            done: word / 2,
            copied: word % 2 == 1,
        }
    }
}

impl<'a, K: Kernel, M: Medium> Engine<'a, K, M> {
    pub fn arrays(&self) -> Arrays<'a, M> {
        Arrays::new(self.medium, &self.plan.layout.arrays)
    }

    pub fn progress(&self, worker: usize) -> Progress {
        Progress::of(load_word(self.medium, progress(worker)))
    }

    pub fn persist(&self, worker: usize, progress_now: Progress) -> Result<(), Error> {
        persist_word(self.medium, progress(worker), progress_now.word())
    }

    /// Begins to make a step's result durable.
    pub fn flush_region(&self, step: Step) {
        for array in self.plan.nest.written(step.outer) {
            self.flush_tile(array, step.region);
        }
    }

    pub fn flush_tile(&self, array: usize, region: usize) {
        let start = self.plan.layout.arrays[array].0;
        for span in self.plan.nest.arrays[array].spans(region) {
            self.medium.flush(start + span.start, span.len());
        }
    }

    pub fn run(&self) -> Result<Report, Error> {
        let workers = self.plan.options.workers;
        for worker in 0..workers {
            if self.progress(worker).done > self.plan.share(worker).end(&self.plan.nest) {
                return Err(Error::Damaged(format!(
                    "{}'s memory (a worker is farther than the loop is long)",
                    self.plan.nest.name
                )));
            }
        }
        let mut report = Report::default();
        let starts = self.recover(&mut report)?;
        let first = (0..workers)
            .map(|worker| {
                let next =
                    self.plan
                        .share(worker)
                        .next(self.kernel, &self.plan.nest, starts[worker]);
                next.map_or(self.plan.nest.outer, |step| step.outer)
            })
            .min()
            .unwrap_or(0);
        report.resumed_at = first;
        let meeting = Meeting::new(workers);
        let mut results = Vec::new();
        if workers == 1 {
            results.push(self.work(0, starts[0], first, &meeting));
        } else {
            std::thread::scope(|scope| {
                let handles: Vec<_> = (0..workers)
                    .map(|worker| {
                        let (meeting, from) = (&meeting, starts[worker]);
                        scope.spawn(move || self.work(worker, from, first, meeting))
                    })
                    .collect();
                for handle in handles {
                    match handle.join() {
                        Ok(result) => results.push(result),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        let mut failed = None;
        for result in results {
            match result {
                Ok(steps) => report.steps += steps,
                // The first cause says more than that others gave up.
                Err(Error::Aborted) if failed.is_some() => {}
                Err(error) if matches!(failed, None | Some(Error::Aborted)) => failed = Some(error),
                Err(_) => {}
            }
        }
        match failed {
            Some(error) => Err(error),
            None => self.finish().map(|()| report),
        }
    }

    /// One worker's steps from number `from` on; all begin with the same iteration, so that they meet equally often.
    fn work(
        &self,
        worker: usize,
        from: u64,
        first: usize,
        meeting: &Meeting,
    ) -> Result<u64, Error> {
        let attendance = Attendance::new(meeting);
        let mut region = None;
        let (plan, share) = (self.plan, self.plan.share(worker));
        let together = plan.nest.order == Order::Together || plan.options.scheme.stops_all();
        let mut scratch = K::Scratch::default();
        let mut steps = 0;
        for outer in first..plan.nest.outer {
            if self.marked.is_edge(outer, first) {
                meeting.meet()?;
            }
            self.marked.set(outer, &mut region);
            for step in share.steps(self.kernel, outer, from) {
                self.perform(worker, step, &mut scratch)?;
                steps += 1;
            }
            if together {
                meeting.meet()?;
            }
            if self.checkpoint_is_due(outer) {
                if worker == 0 {
                    self.take_checkpoint(outer)?;
                }
                meeting.meet()?;
            }
        }
        drop(region);
        attendance.done();
        Ok(steps)
    }

    /// A step, made durable as the scheme does it.
    fn perform(&self, worker: usize, step: Step, scratch: &mut K::Scratch) -> Result<(), Error> {
        match self.plan.options.scheme {
            Scheme::None | Scheme::Checkpoint { .. } => {
                self.compute(step, scratch);
                Ok(())
            }
            Scheme::Logging => self.transaction(worker, step, scratch),
            Scheme::Recompute | Scheme::Hybrid { .. } => {
                self.compute(step, scratch);
                self.flush_region(step);
                self.medium.fence()?;
                let (done, copied) = (step.number + 1, !self.copy_is_due(step));
                self.persist(worker, Progress { done, copied })?;
                if !copied {
                    self.copy_aside(worker, step)?;
                }
                Ok(())
            }
        }
    }

    pub fn compute(&self, step: Step, scratch: &mut K::Scratch) {
        self.kernel
            .step(&self.arrays(), scratch, step.outer, step.region);
    }

    /// All workers are done.
    fn finish(&self) -> Result<(), Error> {
        match self.plan.options.scheme {
            Scheme::None => return Ok(()),
            Scheme::Checkpoint { .. } => {
                for (array, (at, bytes)) in self.plan.layout.arrays.iter().enumerate() {
                    if self.plan.nest.arrays[array].tiles.is_some() {
                        self.medium.flush(*at, *bytes);
                    }
                }
                self.medium.fence()?;
            }
            _ => {}
        }
        persist_word(self.medium, FINISHED, 1)
    }
}
