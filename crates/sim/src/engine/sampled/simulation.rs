//! Simulations of which only units are measured.

use std::ops::Range;

use prestore_machine::Machine;

use super::fold;
use super::source::{AnyUnits, UnitSource};
use super::units::{MeasuredUnits, Units};
use crate::doors::{NoProbe, NoStage};
use crate::engine::chip::Chip;
use crate::engine::erased::{AnyMechanism, Failed, Kept};
use crate::engine::error::SimulationError;
use crate::engine::run::Plan;
use crate::engine::simulation::check_threads;
use crate::mechanism::Mechanism;
use crate::results::{About, Results, Sampling};

/// A pure function of the units, their machine, mechanism and seed. Units may be measured in several runs, also side by side: each
/// begins with empty caches.
#[derive(Clone, Copy)]
pub struct UnitSimulation<'m> {
    pub(in crate::engine) machine: &'m Machine,
    pub(in crate::engine) stacks: &'m [Range<u64>],
    pub(in crate::engine) seed: u64,
    pub(in crate::engine) plan: Plan,
}

impl UnitSimulation<'_> {
    /// Simulates the units of `source`, one after the other. `sampling` says what the source does.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn measure<S: UnitSource, M: Mechanism>(
        &self,
        source: &mut S,
        mechanism: &mut M,
        sampling: &Sampling,
    ) -> Result<MeasuredUnits, SimulationError<S::Error>> {
        let mut source = Kept::new(source);
        let run = self.units(&mut source, mechanism, sampling);
        run.map_err(|error| match source.error() {
            Some(error) => SimulationError::Source(error),
            None => error.of_no_source(),
        })
    }

    fn units(
        &self,
        source: &mut dyn AnyUnits,
        mechanism: &mut dyn AnyMechanism,
        sampling: &Sampling,
    ) -> Result<MeasuredUnits, SimulationError<Failed>> {
        let threads = source.threads();
        check_threads(self.machine, threads, 0)?;
        let plugs = (NoProbe, NoStage);
        // Allocations are not placed by who makes them: such machines cannot be sampled.
        let mut chip = Chip::<_, _, false>::new(self.machine, self.seed, &|_| Vec::new(), plugs)?;
        for stack in self.stacks {
            chip.stack(stack.clone());
        }
        let units = Units {
            machine: self.machine,
            source,
            mechanism,
            uncore: chip,
            plan: self.plan,
            length: sampling.unit,
        };
        units.finish()
    }

    /// What the whole run would have told, by what was measured with the mechanism of this name.
    ///
    /// # Errors
    /// [`SimulationError::NoSample`]: nothing was measured.
    pub fn estimate<E>(
        &self,
        measured: &MeasuredUnits,
        mechanism: &str,
        sampling: Sampling,
    ) -> Result<Results, SimulationError<E>> {
        let about = About {
            mechanism: mechanism.to_owned(),
            seed: self.seed,
            measured: self.plan.interest.to_string(),
            warmup: 0,
            notes: Vec::new(),
        };
        let nothing = SimulationError::NoSample {
            why: "no unit was measured".to_owned(),
        };
        fold::results(self.machine, about, measured, sampling).ok_or(nothing)
    }
}
