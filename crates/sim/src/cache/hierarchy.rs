//! The parts together, and the contract of what is below a core.

use prestore_machine::{DirectoryHome, Inclusion, Machine, Scope};
use prestore_trace::{FlushKind, LineAddr};

use super::counters::{BoundaryCounters, HierarchyCounters, LevelCounters};
use super::directory::Directory;
use super::error::{HierarchyError, check};
use super::grants::Grants;
use super::level::Level;
use super::prefetch::Prefetchers;
use super::request::Want;
use super::slots::Slots;
use super::transaction::Transaction;
use super::write_back::Keep;
use crate::doors::{Asks, Changed, NoProbe, Probe};
use crate::{Below, ByteMask, Flushed, LineState, MemoryPort, Served, ServedBy, Stored, Time};

/// Victims of a core that wait for the memory controller at once, where the machine does not say
/// how many misses its last private level follows (Skylake's "superqueue" has 16 entries).
const EVICTION_BUFFER: u32 = 16;

#[doc = include_str!("rules.md")]
#[derive(Clone, Debug)]
pub struct Hierarchy<M, P = NoProbe> {
    pub(super) levels: Vec<Level>,
    /// Private levels: they come first.
    pub(super) privates: usize,
    /// The nearest write-back level: where writes end.
    pub(super) writes_at: usize,
    pub(super) directory: Directory,
    /// The directory on the device, if it is there.
    pub(super) grants: Option<Grants>,
    /// A clean that does not leave a line where it is leaves it in the nearest shared level.
    cleans_to_shared: bool,
    /// Flushes that have nothing to write go to memory and back all the same.
    pub(super) flushes_ask_memory: bool,
    /// A load that hits level 0 concerns no directory.
    plain_hits: bool,
    /// A write to a line that was granted is done though its data is on its way.
    pub(super) merges_into_fills: bool,
    pub(super) snoop: Time,
    /// How far the directory on the chip is.
    pub(super) directory_latency: Time,
    pub(super) last_latency: Time,
    /// A core each.
    pub(super) evictions: Vec<Slots>,
    pub(super) prefetchers: Option<Prefetchers>,
    /// An empty buffer for the next [`Transaction`].
    room: Vec<(usize, u32, u64)>,
    pub(super) counters: HierarchyCounters,
    pub(super) memory: M,
    pub(super) probe: P,
}

impl<M: MemoryPort> Hierarchy<M> {
    /// The empty caches of `machine` in front of `memory`.
    ///
    /// # Errors
    /// If the machine's caches contradict each other.
    pub fn new(machine: &Machine, memory: M, seed: u64) -> Result<Self, HierarchyError> {
        Self::probed(machine, memory, NoProbe, seed)
    }
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// The same, with `probe` at the private levels.
    ///
    /// # Errors
    /// If the machine's caches contradict each other.
    pub fn probed(
        machine: &Machine,
        memory: M,
        probe: P,
        seed: u64,
    ) -> Result<Self, HierarchyError> {
        check(machine)?;
        let cores = machine.core.count as usize;
        let clock = machine.core.clock;
        let levels: Vec<Level> = machine
            .caches
            .iter()
            .enumerate()
            .map(|(number, level)| Level::new(level, number, machine.line.0, cores, clock, seed))
            .collect();
        let count = levels.len();
        let privates = machine
            .caches
            .iter()
            .filter(|level| level.scope == Scope::Private)
            .count();
        let writes_at = levels.iter().position(|l| !l.through).unwrap_or(count - 1);
        let last_latency = levels[count - 1].latency;
        let buffer = machine.caches[privates.saturating_sub(1)]
            .mshrs
            .unwrap_or(EVICTION_BUFFER);
        Ok(Self {
            privates,
            writes_at,
            directory: Directory::new(machine.directory.filter),
            grants: match machine.directory.home {
                DirectoryHome::OnChip => None,
                DirectoryHome::Device { .. } => Some(Grants::default()),
            },
            cleans_to_shared: machine.core.clwb_to_shared && privates < count,
            flushes_ask_memory: machine.core.flushes_ask_memory,
            plain_hits: privates > 0 || machine.directory.home == DirectoryHome::OnChip,
            merges_into_fills: machine.core.store_buffer.leaves_when_granted,
            snoop: Time::cycles(machine.directory.snoop, clock),
            directory_latency: levels.get(privates).map_or(last_latency, |l| l.latency),
            last_latency,
            evictions: vec![Slots::new(Some(buffer)); cores],
            prefetchers: Prefetchers::new(machine, privates),
            room: Vec::new(),
            counters: HierarchyCounters {
                levels: vec![LevelCounters::default(); count],
                boundaries: vec![BoundaryCounters::default(); count],
                ..HierarchyCounters::default()
            },
            memory,
            probe,
            levels,
        })
    }

    /// What happened so far.
    pub fn counters(&self) -> &HierarchyCounters {
        &self.counters
    }

    /// Does `level` have a copy of `line` for `core`, and which bytes of it are dirty?
    #[cfg(test)]
    pub(crate) fn copy(&self, level: usize, core: u32, line: LineAddr) -> Option<ByteMask> {
        let level = &self.levels[level];
        level.find(core, line.0).map(|place| level.dirty(place))
    }

    /// The memory behind the caches.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// The memory behind the caches.
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// Gives the memory back.
    pub fn into_memory(self) -> M {
        self.memory
    }

    /// `core` will ask for `line` soon: what of the tables is too large for the host's nearer caches
    /// is asked for ahead.
    #[inline]
    pub fn soon(&self, core: u32, line: LineAddr) {
        for level in &self.levels[self.privates..] {
            level.soon(core, line.0);
        }
        self.directory.soon(line.0);
    }

    /// `line` is about to come to `core`: a fill of the last private level throws a line out, which
    /// moves to the next.
    #[inline]
    pub(super) fn victim_soon(&self, core: u32, line: u64) {
        let last = self.levels[..self.privates].last();
        if let Some(victim) = last.and_then(|level| level.likely_victim(core, line)) {
            self.soon(core, LineAddr(victim));
        }
    }

    /// An operation of `core` begins at `at`.
    #[inline]
    pub(super) fn begin(&mut self, core: u32, at: Time) -> Transaction {
        Transaction::new(core, at, std::mem::take(&mut self.room))
    }

    /// An operation is over, and no line on its way from level to level. Answers the time it has come to.
    #[inline]
    pub(super) fn end(&mut self, mut transaction: Transaction) -> Time {
        self.tidy(&mut transaction);
        self.room = transaction.left_private;
        transaction.now
    }

    /// Is a level filled when a miss there is answered from beyond?
    pub(super) fn fills_on_miss(&self, level: usize) -> bool {
        level == 0
            || matches!(
                self.levels[level].inclusion,
                Inclusion::Inclusive | Inclusion::NonInclusive
            )
    }

    /// Is a level filled by the victims of the next nearer one, clean ones too?
    pub(super) fn takes_victims(&self, level: usize) -> bool {
        level > 0
            && matches!(
                self.levels[level].inclusion,
                Inclusion::NonInclusiveVictim | Inclusion::Exclusive
            )
    }

    /// A write, if writes end in the nearest level and `core` owns the line there.
    #[inline(always)]
    fn write_nearest(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
    ) -> Option<Time> {
        if self.writes_at != 0 || self.privates == 0 {
            return None;
        }
        let place = self.levels[0].write_own(core, line.0, bytes)?;
        self.counters.writes += 1;
        Some(self.written(0, place, at))
    }

    /// May `core` write `line` when all levels up to where writes end are shared?
    fn owned_in_shared(&self, core: u32, line: u64) -> bool {
        self.levels[self.writes_at].find(core, line).is_some()
            && self.directory.get(line).others(core).cores == 0
            && self.is_granted(line, core)
    }

    /// Does the device's directory, if there is one, say that `line` is `core`'s own?
    pub(super) fn is_granted(&self, line: u64, core: u32) -> bool {
        self.grants
            .as_ref()
            .is_none_or(|grants| grants.is_core(line, core))
    }
}

impl<M: MemoryPort, P: Probe> Below for Hierarchy<M, P> {
    const NAMES: bool = P::ACTIVE;
    const REFUSES: bool = P::ACTIVE;

    #[inline(always)]
    fn load(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        if self.plain_hits
            && let Some(place) = self.levels[0].find_again(core, line.0)
        {
            let (done, prefetched) = self.levels[0].hit(place, at);
            self.counters.levels[0].load_hits += 1;
            if prefetched {
                self.prefetched_hit(core, at, line.0);
            }
            return Served {
                done,
                granted: done,
                by: ServedBy::Cache(0),
            };
        }
        self.request(core, at, line.0, Want::Read)
    }

    #[inline(always)]
    fn owned(&self, core: u32, line: LineAddr) -> bool {
        if self.writes_at >= self.privates {
            return self.owned_in_shared(core, line.0);
        }
        let level = &self.levels[self.writes_at];
        level
            .find_again(core, line.0)
            .is_some_and(|place| level.is_exclusive(place))
    }

    fn own(&mut self, core: u32, at: Time, line: LineAddr, whole: bool) -> Served {
        self.request(core, at, line.0, Want::Own { whole })
    }

    #[inline(always)]
    fn write(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        let done = self.write_nearest(core, at, line, bytes);
        let done = done.unwrap_or_else(|| self.write_beyond(core, at, line.0, bytes));
        if P::ACTIVE {
            self.changed(core, done, line, Changed::Cached, by);
        }
        done
    }

    #[inline(always)]
    fn write_owned(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Option<Time> {
        let done = match self.write_nearest(core, at, line, bytes) {
            None if self.owned(core, line) => self.write_beyond(core, at, line.0, bytes),
            done => done?,
        };
        if P::ACTIVE {
            self.changed(core, done, line, Changed::Cached, by);
        }
        Some(done)
    }

    fn write_around(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        let taken = self.around(core, at, line.0, bytes);
        if P::ACTIVE {
            self.changed(core, taken, line, Changed::Around, by);
        }
        taken
    }

    fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        if P::ACTIVE
            && let Some(done) = self.probe.flush(core, at, line, kind)
        {
            let state = LineState::Clean;
            let done = done.max(at);
            return Flushed { done, state };
        }
        let cleans = matches!(
            kind,
            FlushKind::Clwb | FlushKind::DcCvac | FlushKind::DcCvap
        );
        let keep = match (cleans, retain) {
            (true, true) => Keep::InPlace,
            (true, false) if self.cleans_to_shared => Keep::Shared,
            _ => Keep::Nowhere,
        };
        self.write_back(core, at, line.0, keep)
    }

    fn demote(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.push_to_shared(core, at, line.0)
    }

    fn write_through(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        let taken = self.through(core, at, line.0, bytes);
        if P::ACTIVE {
            self.changed(core, taken, line, Changed::Through, by);
        }
        taken
    }

    fn load_around(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.read_around(core, at, line.0)
    }

    fn refused(&mut self, core: u32, at: Time, line: LineAddr, asks: Asks) -> Option<Time> {
        self.ask_holders(core, at, line, asks)
    }
}
