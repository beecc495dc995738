//! P4's HR: in each outermost iteration one part of the regions is copied aside, so that a torn one is computed anew
//! from its copy (3.2.1).
//!
//! A region is copied behind its step, when it is durable and progress says so, but with the mark that its copy is not
//! yet. A crash meanwhile leaves a torn copy of a whole region: it is made again before anything else.

use crate::engine::{Engine, Progress};
use crate::medium::copy;
use crate::steps::Step;
use crate::{Error, Kernel, Medium, Scheme};

impl<K: Kernel, M: Medium> Engine<'_, K, M> {
    fn period(&self) -> Option<usize> {
        match self.plan.options.scheme {
            Scheme::Hybrid { period } => Some(period),
            _ => None,
        }
    }

    /// Regions take turns by the modulo of the iteration.
    fn takes_turn(&self, period: usize, outer: usize, region: usize) -> bool {
        outer % period == region * period / self.plan.nest.regions()
    }

    pub(crate) fn copy_is_due(&self, step: Step) -> bool {
        self.period()
            .is_some_and(|period| self.takes_turn(period, step.outer, step.region))
    }

    /// Copies a step's region aside, then marks it as copied.
    pub(crate) fn copy_aside(&self, worker: usize, step: Step) -> Result<(), Error> {
        for (array, place) in self.plan.layout.copies(0) {
            let start = self.plan.layout.arrays[array].0;
            for span in self.plan.nest.arrays[array].spans(step.region) {
                copy(
                    self.medium,
                    start + span.start,
                    place + span.start,
                    span.len(),
                );
                self.medium.flush(place + span.start, span.len());
            }
        }
        self.medium.fence()?;
        let done = step.number + 1;
        self.persist(worker, Progress { done, copied: true })
    }

    /// Makes a copy again that a crash may have torn. Its region is whole: the next step had not begun.
    pub(crate) fn complete_copy(&self, worker: usize) -> Result<(), Error> {
        let progress = self.progress(worker);
        if progress.copied || progress.done == 0 {
            return Ok(());
        }
        self.copy_aside(worker, self.plan.share(worker).step(progress.done - 1))
    }

    /// The last iteration before a step behind which its region was copied.
    pub(crate) fn saved_before(&self, step: Step) -> Option<usize> {
        let period = self.period()?;
        (0..step.outer).rev().find(|outer| {
            self.takes_turn(period, *outer, step.region) && self.writes(*outer, step.region)
        })
    }

    /// Gives a region what its copy holds.
    pub(crate) fn take_saved(&self, region: usize) {
        for (array, place) in self.plan.layout.copies(0) {
            let start = self.plan.layout.arrays[array].0;
            for span in self.plan.nest.arrays[array].spans(region) {
                copy(
                    self.medium,
                    place + span.start,
                    start + span.start,
                    span.len(),
                );
            }
        }
    }
}
