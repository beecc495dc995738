//! A study: every variant on every machine.

use std::sync::Arc;

use prestore_machine::Machine;
use prestore_replay::{HandOffs, Options, Sample, SourceError, at_once, threads_at_once};
use prestore_sim::{CallSite, Interest, Results, Simulation, SimulationError};
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

use crate::effects::{Alone, followed};
use crate::fits::fits;
use crate::simulate::{Run, failed_on};
use crate::variant::Variant;
use crate::{Advice, Figures, MachinePrediction, SCHEMA_VERSION, Speedup, WhatIf};

/// What to simulate, and how.
pub struct Study<'a> {
    /// The recording.
    pub trace: &'a Trace,
    /// On what.
    pub machines: &'a [Machine],
    /// With what: [`Advice::of`] the findings, or part of it, in the order of the findings.
    pub advice: &'a [Advice],
    /// Follow the best of each finding together, whether it gains or not: the user asked for these.
    pub all_together: bool,
    /// Take what can be read of a damaged recording.
    pub lenient: bool,
    /// No load waits for the one that brings its address.
    pub independent_loads: bool,
    /// Simulate only so many operations, the first of all threads.
    pub limit: Option<u64>,
    /// Simulate a sample only, of everything the same units; another one in each of [`Study::simulations`].
    pub sample: Option<Sample>,
    /// Which part of the run is measured.
    pub interest: Interest,
    /// Seed of all that is random, in the first simulation.
    pub seed: u64,
    /// Simulations of each variant on each machine, at least one: each with another seed and other places of pages.
    pub simulations: u32,
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

/// The runs of one variant on one machine, and the share of stores that could not be changed in them.
pub(crate) struct Runs {
    pub results: Vec<Results>,
    pub impossible: f64,
}

/// Has each of `machines` a core for each thread of `trace`? What the threads did is not read for it.
///
/// # Errors
/// The first machine that has too few; or the recording cannot be read.
pub fn have_cores(trace: &Trace, machines: &[Machine], lenient: bool) -> Result<(), WhatIfError> {
    let options = Options {
        lenient,
        ..Options::default()
    };
    let threads = threads_at_once(trace, &options)?;
    for machine in machines {
        (Simulation::new(machine).check_threads(threads, 0))
            .map_err(|error| failed_on(machine, error))?;
    }
    Ok(())
}

impl Study<'_> {
    /// Simulates, on as many threads as the host has; calls `done` after each simulation, with how many are left
    /// of those that are known by then.
    ///
    /// # Errors
    /// The first that a simulation met, in the order of the machines.
    pub fn predict(&self, done: &(dyn Fn(usize) + Sync)) -> Result<WhatIf, WhatIfError> {
        let options = self.options();
        have_cores(self.trace, self.machines, self.lenient)?;
        let hand_offs = Arc::new(HandOffs::infer(self.trace, &options)?);
        let run = |wanted: &[(&Machine, Variant)]| self.runs(wanted, &options, &hand_offs, done);
        let variants = Variant::alone(self.advice);
        let wanted: Vec<(&Machine, Variant)> = (self.machines.iter())
            .flat_map(|m| variants.iter().map(move |v| (m, v.clone())))
            .collect();
        let mut runs = run(&wanted)?.into_iter();
        let alone: Vec<Alone<'_>> = (self.machines.iter())
            .map(|machine| {
                let of_machine: Vec<Runs> = runs.by_ref().take(variants.len()).collect();
                Alone::new(machine, self.advice, of_machine)
            })
            .collect();

        let together: Vec<Vec<usize>> = (alone.iter())
            .map(|a| followed(&a.effects, self.all_together))
            .collect();
        // One alone was simulated already.
        let wanted: Vec<(&Machine, Variant)> = (self.machines.iter().zip(&alone).zip(&together))
            .filter(|(_, followed)| followed.len() > 1)
            .map(|((machine, alone), followed)| (machine, alone.variant(followed)))
            .collect();
        let mut runs = run(&wanted)?.into_iter();
        let machines: Vec<MachinePrediction> = (alone.into_iter().zip(together))
            .map(|(alone, followed)| {
                let together = match followed.len() {
                    0 | 1 => None,
                    _ => runs.next(),
                };
                alone.prediction(followed, together)
            })
            .collect();
        Ok(WhatIf {
            schema_version: SCHEMA_VERSION,
            simulations: self.simulations.max(1),
            sampled_units: (self.sample)
                .filter(|_| of_sample(&machines))
                .map(|s| s.units),
            machines,
        })
    }

    /// All simulations of each of `wanted`, in their order.
    fn runs(
        &self,
        wanted: &[(&Machine, Variant)],
        options: &Options,
        hand_offs: &Arc<HandOffs>,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Runs>, WhatIfError> {
        let each = self.simulations.max(1);
        let runs: Vec<Run<'_>> = (wanted.iter())
            .flat_map(|(machine, variant)| {
                (0..each).map(move |number| Run {
                    machine,
                    variant,
                    number,
                })
            })
            .collect();
        let outcomes = at_once(&runs, |run| self.simulate(run, options, hand_offs), done);
        let mut outcomes = outcomes.into_iter();
        wanted
            .iter()
            .map(|_| {
                let of_one = outcomes.by_ref().take(each as usize);
                let all: Vec<(Results, f64)> = of_one.collect::<Result<_, _>>()?;
                let impossible = all.iter().map(|r| r.1).fold(0.0, f64::max);
                Ok(Runs {
                    results: all.into_iter().map(|r| r.0).collect(),
                    impossible,
                })
            })
            .collect()
    }

    fn options(&self) -> Options {
        let generic = self.advice.iter().filter_map(|a| Some((a, a.caller?)));
        Options {
            lenient: self.lenient,
            independent_loads: self.independent_loads,
            by_caller: generic
                .flat_map(|(a, caller)| a.sites.iter().map(move |&site| (site, caller)))
                .collect(),
            ..Options::default()
        }
    }
}

/// Was a sample simulated? Short recordings are not sampled.
fn of_sample(machines: &[MachinePrediction]) -> bool {
    machines.iter().any(|m| m.baseline.within_percent.is_some())
}

impl Alone<'_> {
    /// `together` are the runs with all of `followed`, where that are several.
    fn prediction(mut self, followed: Vec<usize>, together: Option<Runs>) -> MachinePrediction {
        let baseline = Figures::from(&self.baseline[0]);
        self.notes.extend(fits(self.machine, &self.baseline[0]));
        let (advised, speedup) = match (&together, followed.first()) {
            (Some(runs), _) => (Figures::from(&runs.results[0]), self.speedup(&runs.results)),
            (None, Some(&one)) => {
                let effect = &self.effects[one];
                (effect.figures.clone(), effect.speedup)
            }
            (None, None) => (baseline.clone(), Speedup::of(&[])),
        };
        MachinePrediction {
            machine: self.machine.name.clone(),
            baseline,
            followed,
            advised,
            speedup,
            findings: self.effects,
            notes: self.notes,
        }
    }
}
