//! A recording on a machine: the one way from both to results.

use std::ops::Range;
use std::sync::Arc;

use prestore_sim::{Mechanism, Results, Simulation, SimulationError};
use prestore_trace::container::{RecordingState, Trace};

use crate::ahead;
use crate::first::First;
use crate::sample::{Index, Run, Sample, Units, UnitsOf, side_by_side};
use crate::stacks::stacks;
use crate::watched::Watched;
use crate::{Gaps, HandOffs, Options, SourceError, TraceSource, threads_at_once};

/// A recording to be simulated. What depends on both is settled here: flushes become those of the
/// machine's lines, stacks are looked for where a placement rule names them, and the results' notes
/// say what the recording lacks.
///
/// A pure function of the recording, the simulation and the mechanism.
pub struct Replay<'a> {
    trace: &'a Trace,
    simulation: Simulation<'a>,
    options: Options,
    hand_offs: Option<Arc<HandOffs>>,
    limit: Option<u64>,
    ahead: bool,
    watch: Box<dyn FnMut(usize) + 'a>,
}

/// A recording that is read, and where its stacks are.
struct Opened<'a> {
    stacks: Vec<Range<u64>>,
    source: TraceSource<'a>,
}

impl<'a> Replay<'a> {
    /// All of `trace`, on the machine of `simulation`.
    pub fn new(trace: &'a Trace, simulation: Simulation<'a>) -> Self {
        Self {
            trace,
            simulation,
            options: Options::default(),
            hand_offs: None,
            limit: None,
            ahead: true,
            watch: Box::new(|_| ()),
        }
    }

    /// How to read the recording. [`Options::line`] is the machine's, whatever stands there.
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// What was inferred before with the same options, for several runs of one recording.
    pub fn hand_offs(self, hand_offs: Arc<HandOffs>) -> Self {
        Self {
            hand_offs: Some(hand_offs),
            ..self
        }
    }

    /// Only so many operations, the first of all threads together (to a few thousand). `None`: all.
    pub fn limit(self, limit: Option<u64>) -> Self {
        Self { limit, ..self }
    }

    /// Is the recording decoded by a thread of its own, beside the simulation (so it is unless told otherwise)? Results are the
    /// same; where as many simulations run at once as the host has processors, it gains nothing.
    pub fn ahead(self, ahead: bool) -> Self {
        Self { ahead, ..self }
    }

    /// `watch` is told how many operations more were simulated, from time to time.
    pub fn watch(self, watch: impl FnMut(usize) + 'a) -> Self {
        Self {
            watch: Box::new(watch),
            ..self
        }
    }

    /// Simulates with `mechanism`. Where the recording may end before a hand-off that a thread waits
    /// for (it was cut off, is damaged, or only its first part is simulated), the thread ends there.
    ///
    /// # Errors
    /// [`SimulationError`]; its source's are those of [`TraceSource::open`].
    pub fn run<M: Mechanism>(
        self,
        mechanism: &mut M,
    ) -> Result<Results, SimulationError<SourceError>> {
        let lenient = self.options.lenient;
        let Opened { stacks, source } = self.open()?;
        let whole = self.trace.manifest().state == RecordingState::Complete;
        let simulation =
            (self.simulation.stacks(&stacks)).lenient(lenient || !whole || self.limit.is_some());
        if self.ahead && whole && !lenient && self.limit.is_none() {
            // All of it is simulated, or it is an error: what notes say does not depend on how far ahead was read.
            let (source, results) = ahead::beside(source, |source| {
                let mut source = Watched::new(source, self.watch);
                simulation.run(&mut source, mechanism)
            });
            let mut results = results?;
            results.notes.extend(source.notes());
            return Ok(results);
        }
        let mut source = Watched::new(First::new(source, self.limit), self.watch);
        let mut results = simulation.run(&mut source, mechanism)?;
        let first = source.inner();
        results.notes.extend(first.inner().notes());
        results.notes.extend(first.note());
        Ok(results)
    }

    fn open(&self) -> Result<Opened<'a>, SimulationError<SourceError>> {
        let machine = self.simulation.machine();
        let options = self.options_of_machine();
        // Before the threads are read for what they hand over: that may take a minute.
        let threads = threads_at_once(self.trace, &options).map_err(SimulationError::Source)?;
        self.simulation.check_threads(threads, 0)?;
        let stacks = stacks(machine, self.trace, &options).map_err(SimulationError::Source)?;
        let source = self.source()?;
        Ok(Opened { stacks, source })
    }

    fn source(&self) -> Result<TraceSource<'a>, SimulationError<SourceError>> {
        let options = self.options_of_machine();
        let source = match &self.hand_offs {
            Some(known) => TraceSource::with_hand_offs(self.trace, &options, Arc::clone(known)),
            None => TraceSource::open(self.trace, &options),
        };
        source.map_err(SimulationError::Source)
    }

    fn options_of_machine(&self) -> Options {
        Options {
            line: Some(self.simulation.machine().line.0),
            ..self.options.clone()
        }
    }

    /// Simulates units of the recording, and estimates what [`Replay::run`] would tell. There are as many runs of units, side
    /// by side, as there are `mechanisms`, which are alike: each has the same number of units, one behind the other, and begins
    /// with empty caches. Where all that lies between units warms there is one, with the first of them. A recording so
    /// short that units and what is simulated in detail before them would be a [`Replay::MOST_SAMPLED`] of it or
    /// more is simulated whole, and the notes say so. The watcher is told of units. [`Replay::limit`] has no meaning.
    ///
    /// # Errors
    /// As [`Replay::run`], and [`SimulationError::NoSample`].
    pub fn sampled<M: Mechanism + Send>(
        mut self,
        sample: &Sample,
        mechanisms: &mut [M],
    ) -> Result<Results, SimulationError<SourceError>> {
        let Some(first) = mechanisms.first_mut() else {
            return Err(SimulationError::NoSample {
                why: "there is no mechanism".to_owned(),
            });
        };
        let name = first.name().to_owned();
        let Opened { stacks, source } = self.open()?;
        let index = Index::new(self.trace, source.threads_of(), source.hand_offs());
        let operations = index.ops();
        let instructions = index.instrs().filter(|_| source.gaps == Gaps::Elapse);
        let units = Units::new(sample, operations);
        let detailed = units.count().saturating_mul(sample.length + sample.detail);
        if detailed.saturating_mul(Self::MOST_SAMPLED) >= operations {
            let mut watch = std::mem::replace(&mut self.watch, Box::new(|_| ()));
            let mut results = self.run(first)?;
            watch(sample.units as usize);
            results.notes.push(format!(
                "the recording has {operations} operations, too few to be worth a sample of {} units: all of it was \
                 simulated",
                units.count()
            ));
            return Ok(results);
        }
        let machine = self.simulation.machine();
        let simulation = self.simulation.stacks(&stacks).of_units()?;
        let before = sample.before(machine, source.threads_of().count() as u32);
        let runs = match before.warm {
            Some(_) => mechanisms.len(),
            None => 1,
        };
        self.hand_offs = Some(Arc::clone(&source.hand_offs));
        let mut sources = vec![source];
        while sources.len() < runs {
            sources.push(self.source()?);
        }
        let sampling = sample.of((operations, instructions), machine, runs);
        let units = units.parted(runs);
        let runs = (units.into_iter().zip(sources)).zip(mechanisms);
        let runs = runs.map(|((units, source), mechanism)| Run {
            source: UnitsOf::new(source, &index, units, before),
            mechanism,
        });
        let (measured, mut notes, stale) =
            side_by_side(&simulation, &sampling, runs.collect(), self.watch)?;
        let mut results = simulation.estimate(&measured, &name, sampling)?;
        results.notes.append(&mut notes);
        if stale > 0 {
            let all = results.sampled.as_ref().map_or(0, |s| s.units);
            results.notes.push(format!(
                "before {stale} of {all} units too little warmed to turn the largest cache over: what it keeps for longer is as it was \
                 at the unit before, and the gain of a change that leaves room there can come out too low, by more than the \
                 interval says: compare with the whole (docs/sampling.md)"
            ));
        }
        if instructions.is_none() {
            results.notes.push(
                "of a sample of several threads, or of a recording with gaps, the interval may be too narrow: stretches of \
                 code with few accesses are met by few units, and by none in most samples; where threads mostly wait for each \
                 other, what lies between them is as full in each unit as it was in the recording, which can make the estimate itself wrong: \
                 simulate the whole there (docs/sampling.md)"
                    .to_owned(),
            );
        }
        Ok(results)
    }

    /// A sample is worth its errors where it is less than one in so many operations.
    pub const MOST_SAMPLED: u64 = 2;
}
