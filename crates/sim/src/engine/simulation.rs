//! A machine, ready to replay traces.

use std::ops::Range;

use prestore_machine::{Machine, RangeSelector, Scope};

use super::chip::{CallSites, Chip};
use super::erased::{AnyMechanism, AnySource, Failed, Kept};
use super::error::SimulationError;
use super::run::{Finished, Plan, Run};
use super::sampled::UnitSimulation;
use super::source::Source;
use super::window::Interest;
use crate::Time;
use crate::core::Core;
use crate::doors::{AcceptanceLog, Agents, Doors, Logged, Probe, Stage};
use crate::mechanism::Mechanism;
use crate::results::{About, Results};

/// A pure function of trace, machine, mechanism and seed.
#[derive(Clone, Copy)]
pub struct Simulation<'m> {
    machine: &'m Machine,
    sites: CallSites<'m>,
    stacks: &'m [Range<u64>],
    seed: u64,
    interest: Interest,
    warmup: u64,
    lenient: bool,
    accepted: Option<AcceptanceLog<'m>>,
}

/// Seed where none is chosen.
const DEFAULT_SEED: u64 = 1;

impl<'m> Simulation<'m> {
    /// Replays on `machine`: all of the trace is measured.
    pub fn new(machine: &'m Machine) -> Self {
        Self {
            machine,
            sites: &|_| Vec::new(),
            stacks: &[],
            seed: DEFAULT_SEED,
            interest: Interest::All,
            warmup: 0,
            lenient: false,
            accepted: None,
        }
    }

    /// What it replays on.
    pub fn machine(&self) -> &'m Machine {
        self.machine
    }

    /// Seed of all that is random.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Which part is measured.
    pub fn interest(self, interest: Interest) -> Self {
        Self { interest, ..self }
    }

    /// Operations (of all threads) that are simulated before anything is measured.
    pub fn warmup(self, ops: u64) -> Self {
        Self {
            warmup: ops,
            ..self
        }
    }

    /// The trace may end early: threads that wait for a hand-off that never comes end there, and
    /// the results say so.
    pub fn lenient(self, lenient: bool) -> Self {
        Self { lenient, ..self }
    }

    /// Where the calls of sites stand, for placement rules that name them. Without it no such rule
    /// fits.
    pub fn call_sites(self, sites: CallSites<'m>) -> Self {
        Self { sites, ..self }
    }

    /// Where threads' stacks are, first address to behind the last, for placement rules about stacks.
    pub fn stacks(self, stacks: &'m [Range<u64>]) -> Self {
        Self { stacks, ..self }
    }

    /// `log` is told of each write that a memory controller accepts. Without it nothing is paid.
    pub fn accepted(self, log: AcceptanceLog<'m>) -> Self {
        Self {
            accepted: Some(log),
            ..self
        }
    }

    /// Replays `source` to its end.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn run<S: Source, M: Mechanism>(
        &self,
        source: &mut S,
        mechanism: &mut M,
    ) -> Result<Results, SimulationError<S::Error>> {
        let mut source = Kept::new(source);
        let run = self.run_closed(&mut source, mechanism);
        run.map_err(|error| match source.error() {
            Some(error) => SimulationError::Source(error),
            None => error.of_no_source(),
        })
    }

    /// The same, of which only units are measured.
    ///
    /// # Errors
    /// [`SimulationError::NoSample`] where what is asked for cannot be told from units: it depends on all of a run.
    pub fn of_units<E>(&self) -> Result<UnitSimulation<'m>, SimulationError<E>> {
        let placement = &self.machine.placement;
        let allocations = placement.rules.iter().any(|rule| {
            matches!(
                rule.of,
                RangeSelector::AllocationsFrom(_) | RangeSelector::AllocationSite(_)
            )
        });
        let why = if !placement.types.is_empty() {
            "the machine gives memory other types than write-back (placement.types)"
        } else if allocations {
            "the machine places allocations (placement.rules), and a sample does not see all of them"
        } else if self.interest != Interest::All || self.warmup > 0 {
            "only a part of the run is measured"
        } else {
            return Ok(UnitSimulation {
                machine: self.machine,
                stacks: self.stacks,
                seed: self.seed,
                plan: self.plan(),
            });
        };
        Err(SimulationError::NoSample {
            why: why.to_owned(),
        })
    }

    /// Has the machine a core for each of so many threads, and for `helpers` threads of a mechanism's runtime? Runs find out
    /// themselves; to be asked where much is to be read before.
    ///
    /// # Errors
    /// [`SimulationError::TooManyThreads`], and [`SimulationError::NoThreads`].
    pub fn check_threads<E>(&self, threads: u32, helpers: u32) -> Result<(), SimulationError<E>> {
        check_threads(self.machine, threads, helpers)
    }

    fn plan(&self) -> Plan {
        Plan {
            interest: self.interest,
            warmup: self.warmup,
            quantum: quantum(self.machine),
            lenient: self.lenient,
        }
    }

    /// The same. It is compiled here, and not where it is used.
    fn run_closed(
        &self,
        mut source: &mut dyn AnySource,
        mechanism: &mut dyn AnyMechanism,
    ) -> Result<Results, SimulationError<Failed>> {
        self.run_any(&mut source, mechanism, Doors::closed())
    }

    /// The same, on a machine with `doors` plugged in.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn run_with<S: Source, M: Mechanism, P: Probe, T: Stage, A: Agents>(
        &self,
        source: &mut S,
        mechanism: &mut M,
        doors: Doors<P, T, A>,
    ) -> Result<Results, SimulationError<S::Error>> {
        self.run_any(source, mechanism, doors)
    }

    fn run_any<S: Source, P: Probe, T: Stage, A: Agents>(
        &self,
        source: &mut S,
        mechanism: &mut dyn AnyMechanism,
        doors: Doors<P, T, A>,
    ) -> Result<Results, SimulationError<S::Error>> {
        // Two machines are compiled: one as plain as what is plugged in allows, and one with all of the rest.
        let is_typed = !self.machine.placement.types.is_empty();
        if self.accepted.is_none() && !is_typed {
            return self.run_on::<_, _, _, _, false>(source, mechanism, doors);
        }
        let Doors {
            probe,
            stage,
            agents,
        } = doors;
        let log = self.accepted;
        let doors = Doors {
            probe,
            stage: Logged { stage, log },
            agents,
        };
        self.run_on::<_, _, _, _, true>(source, mechanism, doors)
    }

    fn run_on<S, P, T, A, const TYPED: bool>(
        &self,
        source: &mut S,
        mechanism: &mut dyn AnyMechanism,
        doors: Doors<P, T, A>,
    ) -> Result<Results, SimulationError<S::Error>>
    where
        S: Source,
        P: Probe,
        T: Stage,
        A: Agents,
    {
        let (threads, helpers) = (source.threads(), doors.agents.count());
        self.check_threads(threads, helpers)?;
        let plugs = (doors.probe, doors.stage);
        let chip = Chip::<_, _, TYPED>::new(self.machine, self.seed, self.sites, plugs);
        let mut chip = chip?;
        for stack in self.stacks {
            chip.stack(stack.clone());
        }
        let cores = (0..threads + helpers).map(|id| Core::new(id, self.machine));
        let run = Run::helped(source, mechanism, doors.agents, cores, chip, self.plan());
        let finished = run.finish().map_err(|error| match error {
            SimulationError::TooMuchMemory { memories, .. } => SimulationError::TooMuchMemory {
                machine: self.machine.name.clone(),
                memories,
            },
            other => other,
        })?;
        let about = About {
            mechanism: mechanism.name().to_owned(),
            seed: self.seed,
            measured: self.interest.to_string(),
            warmup: self.warmup,
            notes: notes(&finished),
        };
        Ok(Results::new(self.machine, about, &finished.measured))
    }
}

pub(super) fn check_threads<E>(
    machine: &Machine,
    threads: u32,
    helpers: u32,
) -> Result<(), SimulationError<E>> {
    let cores = machine.core.count;
    if threads == 0 {
        return Err(SimulationError::NoThreads);
    }
    if threads + helpers > cores {
        return Err(SimulationError::TooManyThreads {
            threads,
            helpers,
            machine: machine.name.clone(),
            cores,
        });
    }
    Ok(())
}

/// How far a core may run ahead of the one that is furthest behind: the latency of the nearest
/// level where cores meet, because no core can notice what another did there any sooner.
pub(crate) fn quantum(machine: &Machine) -> Time {
    let meet = machine.caches.iter().find(|c| c.scope == Scope::Shared);
    let level = meet.or(machine.caches.last());
    level.map_or(Time::ZERO, |c| Time::cycles(c.latency, machine.core.clock))
}

fn notes(finished: &Finished) -> Vec<String> {
    let stuck = finished.stuck.iter().map(|(thread, number)| {
        format!(
            "thread {thread} ends early: it waits for hand-off {number}, which the trace does not have"
        )
    });
    let broken = (finished.broken_locks > 0).then(|| {
        format!(
            "all threads waited for each other's locks, and one went on all the same (times: {}): what \
             the recording tells of locks is not all of it",
            finished.broken_locks
        )
    });
    stuck.chain(broken).collect()
}
