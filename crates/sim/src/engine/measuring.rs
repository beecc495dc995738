//! What is measured of a run.

use super::error::SimulationError;
use super::pipeline::{Pipeline, Uncore};
use super::run::Run;
use super::source::Source;
use super::window::Interest;
use crate::Time;
use crate::results::{Counts, Distributions};

impl<S: Source, P: Pipeline, U: Uncore, A> Run<'_, S, P, U, A> {
    /// Thread `t` has read something after messages came.
    pub(super) fn messages_read(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        let done = thread.core.load_done();
        for message in thread.unread.drain(..) {
            if self.meter.is_on() {
                let latency = done.since(message.begun);
                self.meter.handoffs.record(latency);
                if message.message {
                    self.meter.messages.record(latency);
                }
            }
        }
    }

    /// Switches measuring on or off as the window wants.
    pub(super) fn measure(&mut self, now: Time) {
        match (self.window.wanted(), self.meter.is_on()) {
            (true, false) => {
                let counts = self.counts();
                self.meter.start(now, counts, self.distributions());
                self.window.began();
            }
            (false, true) => {
                let counts = self.counts();
                self.meter.stop(now, counts, self.distributions());
            }
            _ => {}
        }
    }

    pub(super) fn distributions(&self) -> Distributions {
        let mut sum = Distributions {
            reads: self.uncore.read_latencies(),
            ..Distributions::default()
        };
        for thread in &self.threads {
            thread.core.add_latencies(&mut sum);
        }
        sum
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            threads: self.threads.iter().map(|t| t.core.counts()).collect(),
            system: self.uncore.counts(),
        }
    }

    /// An answer of nothing but zeros would be silence about a wrong question.
    pub(super) fn check_measured(&self) -> Result<(), SimulationError<S::Error>> {
        if self.window.has_begun() {
            return Ok(());
        }
        if self.ops < self.plan.warmup {
            return Err(SimulationError::AllWarmup {
                ops: self.ops,
                warmup: self.plan.warmup,
            });
        }
        Err(SimulationError::NoRegion {
            wanted: match self.plan.interest {
                Interest::Region(id) => Some(id),
                Interest::All | Interest::AnyRegion => None,
            },
            seen: self.window.seen().to_vec(),
        })
    }
}
