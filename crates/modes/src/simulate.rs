//! A recording with ranges in modes.

use std::ops::Range;
use std::sync::Arc;

use prestore_crash::Image;
use prestore_machine::Machine;
use prestore_replay::{HandOffs, Options, Replay};
use prestore_sim::{CallSite, Interest, Results, Simulation};
use prestore_trace::SiteId;
use prestore_trace::container::Trace;

use crate::{Fitted, Located, Mode, ModesError, Ranges, fitted, locate};

/// The ranges of a recording that modes are chosen for.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Their names, and where they lie.
    pub located: Vec<Located>,
    /// The same by address.
    pub ranges: Ranges,
}

impl Chosen {
    /// As [`locate`].
    ///
    /// # Errors
    /// As [`locate`]; two ranges overlap.
    pub fn new(
        trace: &Trace,
        images: &[(String, Image)],
        lenient: bool,
        allocates: &mut dyn FnMut(&str, SiteId) -> bool,
    ) -> Result<Self, ModesError> {
        let located = locate(trace, images, lenient, allocates)?;
        let all = located.iter().map(|l| -> &[Range<u64>] { &l.ranges });
        let ranges = Ranges::new(all).map_err(|(one, other, at)| ModesError::Overlap {
            one: located[one].name.clone(),
            other: located[other].name.clone(),
            at,
        })?;
        Ok(Self { located, ranges })
    }

    /// Bytes of the range of this number.
    pub fn bytes(&self, number: usize) -> u64 {
        let pieces = self.ranges.iter().filter(|(_, owner)| *owner == number);
        pieces.map(|(range, _)| range.end - range.start).sum()
    }
}

/// How to simulate a recording.
pub struct Way<'a> {
    /// The recording.
    pub trace: &'a Trace,
    /// Which part is measured.
    pub interest: Interest,
    /// Operations before anything is measured.
    pub warmup: u64,
    /// Seed of all that is random.
    pub seed: u64,
    /// Only so many operations, the first of all threads.
    pub limit: Option<u64>,
    /// Take what can be read of a damaged recording.
    pub lenient: bool,
    /// No load waits for the one that brings its address.
    pub independent_loads: bool,
    /// Where the calls of sites stand, for rules of the machine.
    pub call_sites: &'a (dyn Fn(SiteId) -> Vec<CallSite> + Sync),
}

impl Way<'_> {
    fn options(&self) -> Options {
        Options {
            lenient: self.lenient,
            independent_loads: self.independent_loads,
            ..Options::default()
        }
    }

    /// What threads hand over to each other, for all simulations of the recording.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn hand_offs(&self) -> Result<Arc<HandOffs>, ModesError> {
        Ok(Arc::new(HandOffs::infer(self.trace, &self.options())?))
    }

    /// Simulates on `machine`, with `modes` of the ranges of `chosen`; `watch` is told of operations from time to time.
    ///
    /// # Errors
    /// The machine lacks a type, the simulation failed, or nothing touches a range (where all of the recording is simulated).
    pub fn simulate(
        &self,
        machine: &Machine,
        (chosen, modes): (&Chosen, &[Mode]),
        hand_offs: &Arc<HandOffs>,
        watch: &mut dyn FnMut(usize),
    ) -> Result<Results, ModesError> {
        let named = chosen.located.iter().map(|l| l.name.clone());
        let named: Vec<(String, Mode)> = named.zip(modes.iter().copied()).collect();
        let machine = fitted(machine, &chosen.ranges, &named)?;
        let simulation = Simulation::new(&machine)
            .seed(self.seed)
            .interest(self.interest)
            .warmup(self.warmup)
            .call_sites(self.call_sites);
        let mut program = Fitted::new(
            chosen.ranges.clone(),
            modes.to_vec(),
            machine.core.memory_model,
        );
        let mut results = Replay::new(self.trace, simulation)
            .options(self.options())
            .hand_offs(Arc::clone(hand_offs))
            .limit(self.limit)
            .watch(watch)
            .run(&mut program)
            .map_err(|error| ModesError::Simulation {
                machine: machine.name.clone(),
                error,
            })?;
        if let Some(number) = program.untouched().filter(|_| self.limit.is_none()) {
            return Err(ModesError::Untouched(chosen.located[number].name.clone()));
        }
        let counts = program.counts();
        let words = named
            .iter()
            .map(|(name, m)| format!("{name} is {}", m.word()));
        results.notes.push(format!(
            "{}, as if the program were written for it: {} flushes and {} fences left out, {} stores made non-temporal",
            words.collect::<Vec<_>>().join(", "),
            counts.flushes,
            counts.fences,
            counts.stores,
        ));
        Ok(results)
    }
}
