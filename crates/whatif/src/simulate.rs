//! One simulation of a study.

use std::slice;
use std::sync::Arc;

use prestore_machine::quantity::Size;
use prestore_machine::{Machine, PageMapping};
use prestore_replay::{HandOffs, Options, Replay, Sample, SourceError};
use prestore_sim::{
    Costs, Mechanism, NoMechanism, Results, Simulation, SimulationError, VirtualPrestores,
};

use crate::variant::Variant;
use crate::{Study, WhatIfError};

/// What is laid out anew where pages are moved: the least that systems map.
const PAGE: Size = Size(4096);

/// What a simulation found, and the share of stores that cannot be made non-temporal where they are, 0 to 1.
pub(crate) type Outcome = Result<(Results, f64), WhatIfError>;

/// A machine, what is followed on it, and which simulation of that it is.
pub(crate) struct Run<'a> {
    pub machine: &'a Machine,
    pub variant: &'a Variant,
    pub number: u32,
}

impl Study<'_> {
    /// The first simulation is of the machine as it is described. Others have their pages in other places, too: with
    /// them, which addresses meet in a cache's set and in a memory's bank.
    pub(crate) fn simulate(
        &self,
        run: &Run<'_>,
        options: &Options,
        hand_offs: &Arc<HandOffs>,
    ) -> Outcome {
        let mut machine = run.machine.clone();
        if run.number > 0 && machine.placement.pages == PageMapping::Identity {
            machine.placement.pages = PageMapping::Shuffled(PAGE);
        }
        let call_sites = |site| (self.call_sites)(site);
        let simulation = Simulation::new(&machine)
            .seed(self.seed + u64::from(run.number))
            .interest(self.interest)
            .call_sites(&call_sites);
        let replay = Replay::new(self.trace, simulation)
            .options(options.clone())
            .hand_offs(Arc::clone(hand_offs))
            .limit(self.limit)
            .ahead(false);
        let rules = run.variant.rules(self.advice, |site, caller| match caller {
            Some(caller) => options.site_from(site, caller),
            None => site,
        });
        let (simulated, impossible) = if rules.is_empty() {
            (self.replay(replay, run.number, &mut NoMechanism), 0.0)
        } else {
            let name = run.variant.name(self.advice);
            let mut advised =
                VirtualPrestores::new(name, machine.line.0, &rules).costs(costs(&machine));
            let results = self.replay(replay, run.number, &mut advised);
            (results, advised.not_in_place())
        };
        let results = simulated.map_err(|error| failed_on(&machine, error))?;
        Ok((results, impossible))
    }

    /// All of it, or the sample of simulation `number`.
    fn replay<M: Mechanism + Send>(
        &self,
        replay: Replay<'_>,
        number: u32,
        mechanism: &mut M,
    ) -> Result<Results, SimulationError<SourceError>> {
        match self.sample {
            None => replay.run(mechanism),
            Some(sample) => {
                let seed = sample.seed + u64::from(number);
                // As many simulations run side by side as the host has processors.
                replay.sampled(&Sample { seed, ..sample }, slice::from_mut(mechanism))
            }
        }
    }
}

/// The library's instructions on `machine`. The writer keeps its position in memory: a put reads what the one before has
/// stored, and nothing makes up for that wait, so it is as many instructions as the core executes meanwhile.
fn costs(machine: &Machine) -> Costs {
    let nearest = machine.caches.first().map_or(1.0, |c| c.latency.0);
    let chain = ((nearest + 1.0) * machine.core.width).round() as u32;
    let library = Costs::LIBRARY;
    Costs {
        put: library.put.max(chain),
        put_line: library.put_line.max(chain),
        ..library
    }
}

/// What a simulation on `machine` that could not be done means to the study.
pub(crate) fn failed_on(machine: &Machine, error: SimulationError<SourceError>) -> WhatIfError {
    match error {
        SimulationError::Source(error) => WhatIfError::Source(error),
        error => WhatIfError::Simulation {
            machine: machine.name.clone(),
            error,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writers_position_is_waited_for() {
        let mut machine = Machine::find("tiny").expect("a bundled machine");
        machine.core.width = 6.0;
        machine.caches[0].latency.0 = 4.0;
        assert_eq!(costs(&machine).put, 30);
        machine.core.width = 1.0;
        assert_eq!(costs(&machine).put, Costs::LIBRARY.put);
    }
}
