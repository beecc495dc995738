//! A study: every variant on every machine.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use prestore_machine::Machine;
use prestore_replay::{HandOffs, Options, Replay, SourceError};
use prestore_sim::{
    CallSite, Interest, NoMechanism, Results, Simulation, SimulationError, VirtualPrestores,
};
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

use crate::prediction::speedup;
use crate::variant::{Variant, op_name};
use crate::{Advice, Effect, Figures, MachinePrediction, SCHEMA_VERSION, WhatIf};

/// What to simulate, and how.
pub struct Study<'a> {
    /// The recording.
    pub trace: &'a Trace,
    /// On what.
    pub machines: &'a [Machine],
    /// With what: [`Advice::of`] the findings, or part of it, in the order of the findings.
    pub advice: &'a [Advice],
    /// Take what can be read of a damaged recording.
    pub lenient: bool,
    /// Simulate only so many operations, the first of all threads.
    pub limit: Option<u64>,
    /// Which part of the run is measured.
    pub interest: Interest,
    /// Seed of all that is random.
    pub seed: u64,
    /// Where the calls of sites stand, for placement rules that name them.
    pub call_sites: &'a (dyn Fn(SiteId) -> Vec<CallSite> + Sync),
}

/// Why a study could not be made.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// The recording cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A simulation failed.
    #[error("on {machine}: {error}")]
    Simulation {
        /// The machine.
        machine: String,
        /// Why.
        error: SimulationError<SourceError>,
    },
}

type Outcome = Result<Results, WhatIfError>;

impl Study<'_> {
    /// How many simulations it takes.
    pub fn runs(&self) -> usize {
        self.machines.len() * Variant::needed(self.advice).len()
    }

    /// Simulates, on as many threads as the host has; calls `done` after each simulation.
    ///
    /// # Errors
    /// The first that a simulation met, in the order of the machines.
    pub fn predict(&self, done: &(dyn Fn() + Sync)) -> Result<WhatIf, WhatIfError> {
        let variants = Variant::needed(self.advice);
        let runs: Vec<(&Machine, &Variant)> = (self.machines.iter())
            .flat_map(|m| variants.iter().map(move |v| (m, v)))
            .collect();
        let options = self.options();
        let hand_offs = Arc::new(HandOffs::infer(self.trace, &options)?);
        let next = AtomicUsize::new(0);
        let outcomes: Mutex<Vec<Option<Outcome>>> =
            Mutex::new((0..runs.len()).map(|_| None).collect());
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(machine, variant)) = runs.get(index) else {
                    break;
                };
                let outcome = self.simulate(machine, variant, &options, &hand_offs);
                let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                outcomes[index] = Some(outcome);
                done();
            }
        };
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _ in 1..workers.min(runs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let outcomes = outcomes
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let results: Vec<Results> = outcomes.into_iter().flatten().collect::<Result<_, _>>()?;
        let machines = (self.machines.iter())
            .zip(results.chunks(variants.len()))
            .filter_map(|(machine, results)| self.prediction(machine, &variants, results))
            .collect();
        Ok(WhatIf {
            schema_version: SCHEMA_VERSION,
            machines,
        })
    }

    fn options(&self) -> Options {
        let generic = self.advice.iter().filter_map(|a| Some((a, a.caller?)));
        Options {
            lenient: self.lenient,
            by_caller: generic
                .flat_map(|(a, caller)| a.sites.iter().map(move |&site| (site, caller)))
                .collect(),
            ..Options::default()
        }
    }

    fn simulate(
        &self,
        machine: &Machine,
        variant: &Variant,
        options: &Options,
        hand_offs: &Arc<HandOffs>,
    ) -> Outcome {
        let call_sites = |site| (self.call_sites)(site);
        let simulation = Simulation::new(machine)
            .seed(self.seed)
            .interest(self.interest)
            .call_sites(&call_sites);
        let replay = Replay::new(self.trace, simulation)
            .options(options.clone())
            .hand_offs(Arc::clone(hand_offs))
            .limit(self.limit);
        let rules = variant.rules(self.advice, |site, caller| match caller {
            Some(caller) => options.site_from(site, caller),
            None => site,
        });
        let simulated = if rules.is_empty() {
            replay.run(&mut NoMechanism)
        } else {
            let name = variant.name(self.advice);
            let mut advised = VirtualPrestores::new(name, machine.line.0, &rules);
            replay.run(&mut advised)
        };
        simulated.map_err(|error| match error {
            SimulationError::Source(error) => error.into(),
            error => WhatIfError::Simulation {
                machine: machine.name.clone(),
                error,
            },
        })
    }

    /// `results` are those of `variants`, in their order; `None` without any.
    fn prediction(
        &self,
        machine: &Machine,
        variants: &[Variant],
        results: &[Results],
    ) -> Option<MachinePrediction> {
        let mut all = variants.iter().zip(results);
        let (_, first) = all.next()?;
        let baseline = Figures::from(first);
        let mut advised = None;
        let mut findings = Vec::new();
        for (variant, result) in all {
            let figures = Figures::from(result);
            match variant {
                Variant::Baseline => {}
                Variant::All => advised = Some(figures),
                Variant::One(index) => findings.extend(self.advice.get(*index).map(|a| Effect {
                    finding: a.finding,
                    op: op_name(a.op),
                    speedup: speedup(&baseline, &figures),
                    figures,
                })),
            }
        }
        // With one finding the advice all together is its first.
        let advised = advised
            .or_else(|| findings.first().map(|f| f.figures.clone()))
            .unwrap_or_else(|| baseline.clone());
        Some(MachinePrediction {
            machine: machine.name.clone(),
            speedup: speedup(&baseline, &advised),
            baseline,
            advised,
            findings,
            notes: first.notes.clone(),
        })
    }
}
