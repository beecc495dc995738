//! A loop on a medium: begun or found there, run to its end.

use std::ops::Range;

use crate::arrays::{Arrays, Element};
use crate::engine::{Engine, Progress};
use crate::header::{Found, Identity};
use crate::layout::{FINISHED, Layout, progress};
use crate::medium::{load_bytes, load_word, zero};
use crate::region::Marked;
use crate::steps::Share;
use crate::{Dependence, Error, Initial, Kernel, Medium, Nest, Scheme};

/// How a loop is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How it is made failure-safe.
    pub scheme: Scheme,
    /// Threads among which the regions are divided, in equal parts in a row.
    pub workers: usize,
}

/// What a medium held when the loop came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing: the loop has been begun.
    New,
    /// The loop, not finished: it goes on.
    Begun,
    /// The loop, finished: its results are there.
    Finished,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The loop was finished already, and nothing was done.
    pub was_finished: bool,
    /// Outermost iterations that were complete when the run began.
    pub resumed_at: usize,
    /// Steps that were done to bring torn regions back to where they were.
    pub recomputed: u64,
    /// Steps that were done.
    pub steps: u64,
}

pub(crate) struct Plan {
    pub nest: Nest,
    pub options: Options,
    pub layout: Layout,
}

impl Plan {
    pub fn new<K: Kernel>(kernel: &K, options: Options) -> Result<Plan, Error> {
        let nest = kernel.nest();
        nest.check()?;
        let fault = |what: &str| {
            Err(Error::Description {
                name: nest.name.clone(),
                what: what.to_string(),
            })
        };
        if options.workers == 0 || options.workers > 4096 {
            return fault("it should have 1 to 4096 workers");
        }
        match options.scheme {
            Scheme::Logging if !nest.can_log(options.workers) => {
                return fault("the logs of its workers are larger than memory can be");
            }
            Scheme::Hybrid { .. } if nest.dependence == Dependence::Fresh => {
                return fault(
                    "each of its steps can be done anew from what is there, so copies (HR) are of no use: take R",
                );
            }
            Scheme::Hybrid { period: 0 } | Scheme::Checkpoint { every: 0, .. } => {
                return fault("copies should be made every 1 or more iterations");
            }
            Scheme::Recompute | Scheme::Hybrid { .. }
                if nest.dependence == Dependence::Carried && kernel.initial() == Initial::Init =>
            {
                return fault(
                    "a torn tile is computed anew from its first value (R, HR), which init gives to all tiles at once \
                     only: write a reset, an empty one if the first iteration does not read its tiles; or take L or CP",
                );
            }
            _ => {}
        }
        let layout = Layout::new(&nest, options.scheme, options.workers);
        Ok(Plan {
            nest,
            options,
            layout,
        })
    }

    pub fn identity(&self) -> Identity<'_> {
        Identity {
            nest: &self.nest,
            scheme: self.options.scheme,
            workers: self.options.workers,
            total: self.layout.total,
        }
    }

    pub fn share(&self, worker: usize) -> Share {
        Share::new(&self.nest, worker, self.options.workers)
    }
}

/// A loop on a medium.
pub struct Session<'k, K, M> {
    kernel: &'k K,
    medium: M,
    plan: Plan,
    state: State,
    marked: Range<usize>,
}

impl<'k, K: Kernel, M: Medium> Session<'k, K, M> {
    /// Bytes that the loop needs.
    ///
    /// # Errors
    /// The loop's description contradicts itself, or the scheme does not fit it.
    pub fn needs(kernel: &K, options: Options) -> Result<usize, Error> {
        Ok(Plan::new(kernel, options)?.layout.total)
    }

    /// Finds the loop on the medium, or begins it where the medium's first word is zero, or says that a loop was being
    /// begun; then everything else on it is overwritten. `place` is how messages call the medium.
    ///
    /// # Errors
    /// What is there is not this loop's, or damaged; nothing is changed then. The storage fails.
    pub fn open(
        kernel: &'k K,
        medium: M,
        options: Options,
        place: &str,
    ) -> Result<Session<'k, K, M>, Error> {
        let plan = Plan::new(kernel, options)?;
        let mut session = Session {
            kernel,
            medium,
            plan,
            state: State::New,
            marked: 0..usize::MAX,
        };
        match session.plan.identity().find(&session.medium, place)? {
            Found::Nothing => session.begin()?,
            Found::Ours => session.state = session.found(place)?,
        }
        Ok(session)
    }

    /// How far the loop on the medium is. The mark that it is finished counts only where no worker has anything left to do: who
    /// believes it takes what is there for results.
    fn found(&self, place: &str) -> Result<State, Error> {
        let plan = &self.plan;
        let left = |worker| {
            let done = Progress::of(load_word(&self.medium, progress(worker))).done;
            plan.share(worker).next(self.kernel, &plan.nest, done)
        };
        let counts = match plan.options.scheme {
            Scheme::None | Scheme::Checkpoint { .. } => false,
            Scheme::Logging | Scheme::Recompute | Scheme::Hybrid { .. } => true,
        };
        match load_word(&self.medium, FINISHED) {
            0 => Ok(State::Begun),
            1 if !counts || (0..plan.options.workers).all(|w| left(w).is_none()) => {
                Ok(State::Finished)
            }
            _ => Err(Error::Damaged(format!(
                "{place} (it is marked as finished, and its workers are not at the end)"
            ))),
        }
    }

    /// Everything but the header's first word is written and durable before that is stored.
    fn begin(&self) -> Result<(), Error> {
        let (medium, plan) = (&self.medium, &self.plan);
        let word = size_of::<u64>();
        zero(medium, word, plan.layout.total - word);
        plan.identity().write(medium);
        let arrays = Arrays::new(medium, &plan.layout.arrays);
        self.kernel.init(&arrays);
        self.reset_all();
        medium.flush(0, plan.layout.total);
        medium.fence()?;
        plan.identity().commit(medium)
    }

    /// Stores the first value of all that is written, where [`Kernel::reset`] has it, and flushes nothing: a loop on a new medium then
    /// finds the caches as behind a program that has just filled its arrays in, and not all of them written back.
    pub(crate) fn reset_all(&self) {
        if self.kernel.initial() == Initial::Reset {
            let arrays = Arrays::new(&self.medium, &self.plan.layout.arrays);
            for region in 0..self.plan.nest.regions() {
                self.kernel.reset(&arrays, region);
            }
        }
    }

    /// What the medium held when the loop came to it.
    pub fn state(&self) -> State {
        self.state
    }

    /// Only these iterations of the outermost loop are region 4095 of a recording; without it all of them. Workers wait
    /// for each other before the first of them and behind the last.
    pub fn mark(&mut self, iterations: Range<usize>) {
        self.marked = iterations;
    }

    /// Goes on from where a crash has left the loop, to its end. Results are durable then, unless the scheme is
    /// [`Scheme::None`].
    ///
    /// # Errors
    /// The storage fails, or what progress says cannot be.
    pub fn run(&mut self) -> Result<Report, Error> {
        if self.state == State::Finished {
            return Ok(Report {
                was_finished: true,
                resumed_at: self.plan.nest.outer,
                ..Report::default()
            });
        }
        let engine = Engine {
            kernel: self.kernel,
            medium: &self.medium,
            plan: &self.plan,
            marked: Marked(self.marked.clone()),
            untouched: self.state == State::New,
        };
        // From now on, whether or not it fails.
        self.state = State::Begun;
        let report = engine.run()?;
        if self.plan.options.scheme != Scheme::None {
            self.state = State::Finished;
        }
        Ok(report)
    }

    /// A copy of an array as it is now; what is not a whole element at its end is left out.
    ///
    /// # Panics
    /// There is no array of this number.
    pub fn read<T: Element>(&self, array: usize) -> Vec<T> {
        let (at, bytes) = self.plan.layout.arrays[array];
        let bytes = load_bytes(&self.medium, at, bytes / size_of::<T>() * size_of::<T>());
        let chunks = bytes.chunks_exact(size_of::<T>());
        // SAFETY: each chunk has the type's size, every pattern of bits is a value.
        chunks
            .map(|chunk| unsafe { chunk.as_ptr().cast::<T>().read_unaligned() })
            .collect()
    }

    /// Where an array begins in memory.
    ///
    /// # Panics
    /// There is no array of this number.
    pub fn address(&self, array: usize) -> *mut u8 {
        Arrays::new(&self.medium, &self.plan.layout.arrays).address(array)
    }

    /// The medium, to ask it something.
    pub fn medium(&self) -> &M {
        &self.medium
    }
}
