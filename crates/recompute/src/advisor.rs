//! Which loop to make durable, and how, from measured times and the mean time to failure (P4, 3.2.0.1 and 3.4.2).
//!
//! A deeper loop costs more while nothing fails and less when something does. For each choice the expected cost is what
//! it takes from the run, plus what a failure costs times how often it comes; failures come independently of what the
//! program does, so half of the largest loss is the mean one.

use crate::Scheme;

/// A loop at whose end results could be made durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// How it is called in the advice.
    pub name: String,
    /// Seconds of one iteration of it: one worker's computing of one region, once.
    pub seconds: f64,
    /// Seconds to make what an iteration wrote durable, and progress behind it.
    pub persist_seconds: f64,
}

/// What was measured of a loop, and what is known of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Iterations of the outermost loop.
    pub outer: u64,
    /// Seconds of one of them, without any scheme.
    pub outer_seconds: f64,
    /// Seconds to copy aside everything that the loop writes, and make the copy durable.
    pub copy_seconds: f64,
    /// Workers; after a failure each may have torn one region.
    pub workers: u64,
    /// Steps read nothing that their iteration writes ([`Dependence::Fresh`](crate::Dependence::Fresh)), so that a torn
    /// one is just done again.
    pub fresh: bool,
    /// Mean time to failure, in seconds.
    pub mttf_seconds: f64,
    /// The loops to choose from.
    pub levels: Vec<Level>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// How to make the loop failure-safe.
    pub scheme: Scheme,
    /// At the end of which loop, a number in [`Measured::levels`]; none if the scheme is checkpointing.
    pub level: Option<usize>,
    /// What that takes while nothing fails, as a part of the run.
    pub overhead: f64,
    /// The longest that a recovery takes, in seconds.
    pub recovery_seconds: f64,
    /// All that failure safety and failures take, as a part of the run.
    pub expected: f64,
    /// How many iterations of the outermost loop would have to be between two checkpoints for them to take no more than
    /// the best choice of Recompute or its hybrid, while nothing fails: P4's crossing point. None if none of these gets
    /// ahead of the failures.
    pub crossing: Option<f64>,
}

/// Iterations between two checkpoints at which these cost no more than a scheme that takes `overhead` of each iteration;
/// for time and for writes alike. `checkpoint` and `iteration` have the same unit.
pub fn crossing(checkpoint: f64, iteration: f64, overhead: f64) -> f64 {
    checkpoint / (iteration * overhead)
}

/// What one checkpoint costs, in iterations, from runs with checkpoints at different distances: the least-squares fit of
/// `1 + cost / distance` (P4 extrapolates so). Points are a distance in iterations and the run's cost relative to one
/// without checkpoints.
pub fn checkpoint_cost(points: &[(f64, f64)]) -> f64 {
    let products: f64 = points
        .iter()
        .map(|(distance, cost)| (cost - 1.0) / distance)
        .sum();
    let squares: f64 = points.iter().map(|(distance, _)| distance.powi(-2)).sum();
    products / squares
}

impl Measured {
    /// The choice with the least expected cost, among those that get ahead of the failures: where recovering and one
    /// step take longer than the mean time to failure, a loop may never end. None if none does.
    pub fn advise(&self) -> Option<Advice> {
        let mut best: Option<Advice> = None;
        let consider = |best: &mut Option<Advice>, candidate: Option<Advice>| {
            if let Some(candidate) = candidate
                && best
                    .as_ref()
                    .is_none_or(|best| candidate.expected < best.expected)
            {
                *best = Some(candidate);
            }
        };
        for number in 0..self.levels.len() {
            consider(&mut best, self.recompute(number, None));
            let periods = (0..)
                .map(|power| 1_u64 << power)
                .take_while(|period| *period < self.outer);
            for period in periods.filter(|_| !self.fresh) {
                consider(&mut best, self.recompute(number, Some(period)));
            }
        }
        let crossing = best
            .as_ref()
            .map(|best| crossing(self.copy_seconds, self.outer_seconds, best.overhead));
        consider(&mut best, self.checkpoint());
        best.map(|best| Advice { crossing, ..best })
    }

    /// The advice to take R, or HR of a period, at the end of a loop.
    pub fn recompute(&self, level: usize, period: Option<u64>) -> Option<Advice> {
        let loop_level = &self.levels[level];
        let anew = match (self.fresh, period) {
            (true, _) => 0,
            (false, None) => self.outer,
            (false, Some(period)) => period.min(self.outer),
        };
        // Recovery brings back one worker's region after the other.
        let recovery = anew as f64 * loop_level.seconds * self.workers as f64;
        let copies = period.map_or(0.0, |period| {
            self.copy_seconds / (period as f64 * self.outer_seconds)
        });
        let overhead = loop_level.persist_seconds / loop_level.seconds + copies;
        let scheme = match period {
            Some(period) => Scheme::Hybrid {
                period: period as usize,
            },
            None => Scheme::Recompute,
        };
        self.judge(scheme, Some(level), overhead, recovery, loop_level.seconds)
    }

    /// The advice to take checkpoints, at the best distance (Young 1974).
    pub fn checkpoint(&self) -> Option<Advice> {
        let seconds = (2.0 * self.copy_seconds * self.mttf_seconds).sqrt();
        let every = (seconds / self.outer_seconds)
            .round()
            .clamp(1.0, self.outer as f64);
        let overhead = self.copy_seconds / (every * self.outer_seconds);
        let scheme = Scheme::Checkpoint {
            every: every as usize,
            inputs: false,
        };
        // Reading a copy takes no longer than writing it.
        let lost = every * self.outer_seconds;
        self.judge(scheme, None, overhead, self.copy_seconds, lost)
    }

    /// `lost` is what is not yet durable when a failure comes, at most.
    fn judge(
        &self,
        scheme: Scheme,
        level: Option<usize>,
        overhead: f64,
        recovery: f64,
        lost: f64,
    ) -> Option<Advice> {
        if recovery + lost >= self.mttf_seconds {
            return None;
        }
        let mean = if matches!(scheme, Scheme::Checkpoint { .. }) {
            recovery
        } else {
            recovery / 2.0
        };
        Some(Advice {
            scheme,
            level,
            overhead,
            recovery_seconds: recovery,
            expected: overhead + (1.0 + overhead) * (mean + lost / 2.0) / self.mttf_seconds,
            crossing: None,
        })
    }
}
