//! A core in the engine's eyes.

use super::pipeline::Core;
use super::stalls::Cause;
use crate::engine::{Pipeline, Ran};
use crate::results::{Distributions, Sum, ThreadCounts};
use crate::{Below, Op, Time};

impl Pipeline for Core {
    #[inline(always)]
    fn now(&self) -> Time {
        self.now()
    }

    #[inline]
    fn step<B: Below>(&mut self, op: &Op, below: &mut B) {
        self.step(op, below);
    }

    #[inline(always)]
    fn clock(&self) -> Time {
        self.clock()
    }

    #[inline(always)]
    fn advance<B: Below>(&mut self, op: &Op, limit: Time, below: &mut B) -> bool {
        self.advance(op, limit, below)
    }

    #[inline(always)]
    fn run<B: Below>(
        &mut self,
        ops: &[Op],
        limit: Time,
        below: &mut B,
        before: impl FnMut(usize, &B),
    ) -> Ran {
        self.run(ops, limit, below, before)
    }

    fn hand_off<B: Below>(&mut self, below: &mut B) -> Option<Time> {
        self.hand_off(below);
        self.handed_over()
    }

    fn handed_over(&mut self) -> Option<Time> {
        self.handed_over()
    }

    fn rest<B: Below>(&mut self, limit: Time, below: &mut B) -> Option<Time> {
        self.rest(limit, below)
    }

    fn load_done(&self) -> Time {
        self.load_done()
    }

    fn visible_at<B: Below>(&mut self, below: &mut B) -> Time {
        self.visible_at(below)
    }

    fn wait_until(&mut self, at: Time) {
        self.wait_until(at);
    }

    fn wind_down<B: Below>(&mut self, instrs: u64, limit: Time, below: &mut B) -> bool {
        self.wind_down(instrs, limit, below)
    }

    fn wait_for_lock(&mut self, at: Time) {
        self.wait_for_lock(at);
    }

    fn finish<B: Below>(&mut self, instrs: u64, below: &mut B) -> Time {
        self.finish(instrs, below)
    }

    fn counts(&self) -> ThreadCounts {
        let results = self.results();
        ThreadCounts {
            clock: self.now(),
            instructions: results.instructions,
            ops: results.ops,
            // Where all memory is cached, nobody waits for what is not.
            stalls: (results.stalls.iter())
                .filter(|(cause, time)| *cause != Cause::Uncached || *time > Time::ZERO)
                .collect(),
        }
    }

    fn add_latencies(&self, sum: &mut Distributions) {
        let results = self.results();
        sum.loads.add(&results.load_latency);
        sum.fences.add(&results.fence_latency);
        sum.atomics.add(&results.atomic_latency);
    }
}
