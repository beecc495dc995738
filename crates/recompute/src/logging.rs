//! P4's L: a step is a transaction with an undo log (2.3.5 and figure 2.6).

use crate::engine::{Engine, Progress};
use crate::layout::{inside, logged_progress, progress};
use crate::medium::{copy, load_word, persist_word, store_word};
use crate::steps::Step;
use crate::{Error, Kernel, Medium};

impl<K: Kernel, M: Medium> Engine<'_, K, M> {
    pub(crate) fn transaction(
        &self,
        worker: usize,
        step: Step,
        scratch: &mut K::Scratch,
    ) -> Result<(), Error> {
        // 1 and 2: the log, durable.
        self.each_span(worker, step, |at, log, len| {
            copy(self.medium, at, log, len);
            self.medium.flush(log, len);
        });
        let before = Progress {
            done: step.number,
            copied: true,
        };
        store_word(self.medium, logged_progress(worker), before.word());
        self.medium.flush(logged_progress(worker), 8);
        self.medium.fence()?;
        // 3: the transaction begins.
        persist_word(self.medium, inside(worker), 1)?;
        // 4: the step and its progress.
        self.compute(step, scratch);
        self.flush_region(step);
        let after = Progress {
            done: step.number + 1,
            copied: true,
        };
        self.persist(worker, after)?;
        // 5: it ends.
        persist_word(self.medium, inside(worker), 0)
    }

    /// Takes a transaction back that has not ended.
    pub(crate) fn undo(&self, worker: usize) -> Result<(), Error> {
        if load_word(self.medium, inside(worker)) == 0 {
            return Ok(());
        }
        let before = Progress::of(load_word(self.medium, logged_progress(worker)));
        let share = self.plan.share(worker);
        if before.done >= share.end(&self.plan.nest) {
            return Err(Error::Damaged(format!(
                "{}'s memory (the log is of a step that there is not)",
                self.plan.nest.name
            )));
        }
        self.each_span(worker, share.step(before.done), |at, log, len| {
            copy(self.medium, log, at, len);
            self.medium.flush(at, len);
        });
        store_word(self.medium, progress(worker), before.word());
        self.medium.flush(progress(worker), 8);
        self.medium.fence()?;
        persist_word(self.medium, inside(worker), 0)
    }

    /// Each span that a step writes: where it is, where it is in the log, and its length.
    fn each_span(&self, worker: usize, step: Step, mut each: impl FnMut(usize, usize, usize)) {
        let mut log = self.plan.layout.log(worker);
        for array in self.plan.nest.written(step.outer) {
            let start = self.plan.layout.arrays[array].0;
            for span in self.plan.nest.arrays[array].spans(step.region) {
                each(start + span.start, log, span.len());
                log += span.len();
            }
        }
    }
}
