//! The order of steps: which worker does which, and how a step is numbered.

use std::ops::Range;

use crate::{Kernel, Nest};

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its number among its worker's steps, those that write nothing counted too.
    pub number: u64,
    pub outer: usize,
    pub region: usize,
}

/// A worker's part of the regions, the same in all iterations.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    regions: Range<usize>,
}

impl Share {
    pub fn new(nest: &Nest, worker: usize, workers: usize) -> Share {
        let all = nest.regions();
        Share {
            regions: worker * all / workers..(worker + 1) * all / workers,
        }
    }

    fn number(&self, outer: usize, region: usize) -> u64 {
        (outer * self.regions.len() + region - self.regions.start) as u64
    }

    /// The number of an iteration's first step.
    pub fn first_of(&self, outer: usize) -> u64 {
        (outer * self.regions.len()) as u64
    }

    /// The iteration that a step of this number is in.
    pub fn outer_of(&self, number: u64) -> usize {
        if self.regions.is_empty() {
            return 0;
        }
        (number / self.regions.len() as u64) as usize
    }

    /// The step of a number, whether or not it writes something.
    pub fn step(&self, number: u64) -> Step {
        Step {
            number,
            outer: self.outer_of(number),
            region: self.regions.start + (number % self.regions.len() as u64) as usize,
        }
    }

    /// One more than the last number.
    pub fn end(&self, nest: &Nest) -> u64 {
        (nest.outer * self.regions.len()) as u64
    }

    /// This iteration's steps from a number on that write something.
    pub fn steps<K: Kernel>(
        &self,
        kernel: &K,
        outer: usize,
        from: u64,
    ) -> impl Iterator<Item = Step> {
        let within = kernel.regions(outer);
        let first = self.regions.start.max(within.start);
        let last = self.regions.end.min(within.end);
        (first..last)
            .map(move |region| Step {
                number: self.number(outer, region),
                outer,
                region,
            })
            .filter(move |step| step.number >= from && kernel.writes(outer, step.region))
    }

    /// The first step from a number on that writes something.
    pub fn next<K: Kernel>(&self, kernel: &K, nest: &Nest, from: u64) -> Option<Step> {
        if self.regions.is_empty() {
            return None;
        }
        (self.outer_of(from)..nest.outer).find_map(|outer| self.steps(kernel, outer, from).next())
    }
}
