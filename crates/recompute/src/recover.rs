//! Brings back what a crash may have torn. Nothing of it need be durable, but for what is only read: a crash meanwhile
//! leaves progress as it was, and the same is done again.

use crate::engine::Engine;
use crate::medium::zero;
use crate::session::Report;
use crate::steps::Step;
use crate::{Dependence, Error, Initial, Kernel, Medium, Order, Scheme};

impl<K: Kernel, M: Medium> Engine<'_, K, M> {
    /// Gives the number of the step with which each worker goes on.
    pub(crate) fn recover(&self, report: &mut Report) -> Result<Vec<u64>, Error> {
        let workers = 0..self.plan.options.workers;
        if self.untouched {
            return Ok(vec![0; workers.len()]);
        }
        match self.plan.options.scheme {
            Scheme::None => {
                self.begin_again()?;
                Ok(vec![0; workers.len()])
            }
            Scheme::Checkpoint { .. } => {
                let outer = self.restore_checkpoint()?;
                Ok(workers
                    .map(|worker| self.plan.share(worker).first_of(outer))
                    .collect())
            }
            Scheme::Logging => {
                for worker in workers.clone() {
                    self.undo(worker)?;
                }
                Ok(workers.map(|worker| self.progress(worker).done).collect())
            }
            Scheme::Recompute | Scheme::Hybrid { .. } => {
                for worker in workers.clone() {
                    self.complete_copy(worker)?;
                }
                self.recompute_torn(report);
                Ok(workers.map(|worker| self.progress(worker).done).collect())
            }
        }
    }

    /// Gives the arrays what they held before the first iteration. A crash meanwhile, or before the first checkpoint,
    /// leaves a loop that begins again.
    pub(crate) fn begin_again(&self) -> Result<(), Error> {
        let arrays = &self.plan.layout.arrays;
        match self.kernel.initial() {
            Initial::Reset => {
                for region in 0..self.plan.nest.regions() {
                    self.kernel.reset(&self.arrays(), region);
                }
            }
            Initial::Zeros => {
                for region in 0..self.plan.nest.regions() {
                    self.zero(region);
                }
            }
            Initial::Init => {
                for (at, bytes) in arrays {
                    zero(self.medium, *at, *bytes);
                }
                self.kernel.init(&self.arrays());
                // What is only read is in no checkpoint: it has to be durable before the first of them is.
                for (at, bytes) in arrays {
                    self.medium.flush(*at, *bytes);
                }
                self.medium.fence()?;
            }
        }
        Ok(())
    }

    /// Zeroes a region in all arrays that are written.
    fn zero(&self, region: usize) {
        for (array, (start, _)) in self.plan.nest.arrays.iter().zip(&self.plan.layout.arrays) {
            if array.tiles.is_some() {
                for span in array.spans(region) {
                    zero(self.medium, start + span.start, span.len());
                }
            }
        }
    }

    /// Gives a torn region the value that it has before the first iteration.
    fn reset(&self, region: usize) {
        match self.kernel.initial() {
            Initial::Reset => self.kernel.reset(&self.arrays(), region),
            // With `Init` the plan is refused.
            Initial::Zeros | Initial::Init => self.zero(region),
        }
    }

    /// Torn is at most each worker's next step. Regions are brought back in ascending order, as one may read those
    /// before it (`Dependence::Carried`).
    fn recompute_torn(&self, report: &mut Report) {
        if self.plan.nest.dependence == Dependence::Fresh {
            return;
        }
        let mut torn: Vec<Step> = (0..self.plan.options.workers)
            .filter_map(|worker| {
                let done = self.progress(worker).done;
                self.plan
                    .share(worker)
                    .next(self.kernel, &self.plan.nest, done)
            })
            .collect();
        if self.plan.nest.order == Order::Together {
            // No iteration begins before all steps of the one before are durable.
            let reached = torn.iter().map(|step| step.outer).min();
            torn.retain(|step| Some(step.outer) == reached);
        }
        torn.sort_by_key(|step| step.region);
        let mut scratch = K::Scratch::default();
        for step in torn {
            let first = match self.saved_before(step) {
                Some(outer) => {
                    self.take_saved(step.region);
                    outer + 1
                }
                None => {
                    self.reset(step.region);
                    0
                }
            };
            for outer in first..step.outer {
                if self.writes(outer, step.region) {
                    self.compute(Step { outer, ..step }, &mut scratch);
                    report.recomputed += 1;
                }
            }
        }
    }

    pub(crate) fn writes(&self, outer: usize, region: usize) -> bool {
        self.kernel.regions(outer).contains(&region) && self.kernel.writes(outer, region)
    }
}
