//! Brings back what a crash may have torn. Nothing of it need be durable: a crash meanwhile leaves progress as it was,
//! and the same is done again.

use crate::engine::Engine;
use crate::session::Report;
use crate::steps::Step;
use crate::{Dependence, Error, Kernel, Medium, Order, Scheme};

impl<K: Kernel, M: Medium> Engine<'_, K, M> {
    /// Gives the number of the step with which each worker goes on.
    pub(crate) fn recover(&self, report: &mut Report) -> Result<Vec<u64>, Error> {
        let workers = 0..self.plan.options.workers;
        match self.plan.options.scheme {
            Scheme::None => {
                self.reset_all();
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

    pub(crate) fn reset_all(&self) {
        for region in 0..self.plan.nest.regions() {
            self.kernel.reset(&self.arrays(), region);
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
                    self.kernel.reset(&self.arrays(), step.region);
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
