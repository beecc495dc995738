//! What there is: levels, directories, prefetchers, memory.

use prestore_machine::{CacheLevel, DirectoryHome, Inclusion, Machine, Scope, WritePolicy};
use prestore_sim::{HierarchyCounters, MemoryPort, Time};

use super::cache::Cache;
use super::device::Owners;
use super::filter::Filter;
use super::prefetch::Prefetchers;
use super::slots::Slots;

/// A level, all its instances.
pub struct Level {
    pub inclusion: Inclusion,
    pub through: bool,
    pub latency: Time,
    pub caches: Vec<Cache>,
    /// An instance each, where they are limited.
    pub mshrs: Option<Vec<Slots>>,
}

/// The plain hierarchy.
pub struct Reference<M> {
    pub memory: M,
    pub counters: HierarchyCounters,
    pub(super) levels: Vec<Level>,
    /// Private levels; they come first.
    pub(super) privates: usize,
    /// The nearest write-back level, where writes end.
    pub(super) writes_at: usize,
    pub(super) cores: u32,
    pub(super) snoop: Time,
    pub(super) filter: Option<Filter>,
    pub(super) device: Option<Owners>,
    /// Eviction buffers, a core each.
    pub(super) leaving: Vec<Slots>,
    pub(super) prefetchers: Prefetchers,
    pub(super) cleans_to_shared: bool,
    pub(super) flushes_ask_memory: bool,
    pub(super) leaves_when_granted: bool,
}

/// A call from above while it is carried out.
pub struct Operation {
    pub core: u32,
    pub began: Time,
    /// The time that it has come to.
    pub now: Time,
}

impl<M: MemoryPort> Reference<M> {
    pub fn new(machine: &Machine, memory: M, seed: u64) -> Self {
        let privates = machine
            .caches
            .iter()
            .take_while(|level| level.scope == Scope::Private);
        let privates = privates.count();
        let is_back = |level: &CacheLevel| level.write == WritePolicy::Back;
        let victims = machine.caches[privates.max(1) - 1].mshrs;
        let mut counters = HierarchyCounters::default();
        counters
            .levels
            .resize(machine.caches.len(), Default::default());
        counters
            .boundaries
            .resize(machine.caches.len(), Default::default());
        Self {
            memory,
            counters,
            levels: (0..machine.caches.len())
                .map(|number| level(machine, number, seed))
                .collect(),
            privates,
            writes_at: machine.caches.iter().position(is_back).unwrap(),
            cores: machine.core.count,
            snoop: Time::cycles(machine.directory.snoop, machine.core.clock),
            filter: machine.directory.filter.map(Filter::new),
            device: matches!(machine.directory.home, DirectoryHome::Device { .. })
                .then(Owners::default),
            leaving: vec![Slots::new(victims.unwrap_or(16)); machine.core.count as usize],
            prefetchers: Prefetchers::new(machine),
            cleans_to_shared: machine.core.clwb_to_shared,
            flushes_ask_memory: machine.core.flushes_ask_memory,
            leaves_when_granted: machine.core.store_buffer.leaves_when_granted,
        }
    }

    pub(super) fn instance(&self, level: usize, core: u32) -> usize {
        if level < self.privates {
            core as usize
        } else {
            0
        }
    }

    pub(super) fn cache(&mut self, level: usize, core: u32) -> &mut Cache {
        let instance = self.instance(level, core);
        &mut self.levels[level].caches[instance]
    }

    /// Is the level filled by a miss there, wherever it started?
    pub(super) fn is_filled_on_miss(&self, level: usize) -> bool {
        matches!(
            self.levels[level].inclusion,
            Inclusion::Inclusive | Inclusion::NonInclusive
        )
    }

    /// Does a hit of the level move the line nearer?
    pub(super) fn moves_nearer(&self, level: usize) -> bool {
        level > 0 && self.levels[level].inclusion == Inclusion::Exclusive
    }

    /// The last level's latency.
    pub(super) fn far(&self) -> Time {
        self.levels[self.levels.len() - 1].latency
    }

    /// Where the directory on the chip is.
    pub(super) fn directory_latency(&self) -> Time {
        self.levels[self.privates.min(self.levels.len() - 1)].latency
    }
}

fn level(machine: &Machine, number: usize, seed: u64) -> Level {
    let level = &machine.caches[number];
    let is_private = level.scope == Scope::Private;
    let instances = if is_private { machine.core.count } else { 1 };
    let cache = |instance| Cache::new(level, number as u64, instance, machine.line.0, seed);
    Level {
        inclusion: level.inclusion,
        through: level.write == WritePolicy::Through,
        latency: Time::cycles(level.latency, machine.core.clock),
        caches: (0..u64::from(instances)).map(cache).collect(),
        mshrs: level
            .mshrs
            .map(|count| vec![Slots::new(count); instances as usize]),
    }
}
