//! Which images are tried, in which order.

use std::ops::ControlFlow;

use prestore_crash::{CrashImage, Domain, Log, Survivors};

/// The same images in the same order whenever it is gone through.
#[derive(Clone, Debug)]
pub struct Plan {
    pub domain: Domain,
    /// Events that have happened before the power may be cut.
    pub from: usize,
    pub seed: u64,
    most: u64,
    /// Of those, how many not by chance at most.
    systematic: u64,
    /// How many they are.
    pub total: u64,
    /// There are no others.
    pub complete: bool,
}

impl Plan {
    /// At most `most` images.
    pub fn new(log: &Log, domain: Domain, from: usize, most: u64, seed: u64) -> Self {
        let mut plan = Self {
            domain,
            from,
            seed,
            most,
            systematic: most,
            total: 0,
            complete: false,
        };
        let mut all = Survivors::new(log, domain).after(from);
        let tried = all.systematic(most, |_| ControlFlow::<()>::Continue(()));
        (plan.total, plan.complete) = (tried.images, tried.complete);
        if !tried.complete {
            plan.systematic = most.div_ceil(2);
            let mut total = 0;
            plan.each(log, |_| {
                total += 1;
                ControlFlow::<()>::Continue(())
            });
            plan.total = total;
        }
        plan
    }

    /// Gives `each` one image after another, until it breaks.
    pub fn each<B>(
        &self,
        log: &Log,
        mut each: impl FnMut(&CrashImage<'_>) -> ControlFlow<B>,
    ) -> Option<B> {
        let mut survivors = Survivors::new(log, self.domain).after(self.from);
        let tried = survivors.systematic(self.systematic, &mut each);
        if tried.stopped.is_some() || tried.complete {
            return tried.stopped;
        }
        let left = self.most - tried.images;
        survivors.random(left, self.seed, &mut each).stopped
    }
}
