//! What there is.

use std::collections::BTreeMap;

use prestore_machine::quantity::Cycles;
use prestore_machine::{Machine, Scope};
use prestore_sim::{BoundaryCounters, HierarchyCounters, LevelCounters, MemoryPort, Time};

use super::cache::Cache;
use super::directory::Entry;
use super::policy::SplitMix;
use super::prefetch::Stream;
use super::waiting::Slots;

/// The eviction buffer's places where the last private level does not say.
const EVICTION_BUFFER: u32 = 16;

/// All caches of a machine, their directory and prefetchers, and the memory behind them.
#[derive(Debug)]
pub struct Reference<M> {
    pub(super) machine: Machine,
    pub memory: M,
    pub counters: HierarchyCounters,
    /// By level and instance.
    pub(super) caches: Vec<Vec<Cache>>,
    /// By level and instance, where they are limited.
    pub(super) mshrs: Vec<Vec<Option<Slots>>>,
    /// By core.
    pub(super) eviction_buffers: Vec<Slots>,
    /// Of the directory on the device: which core had exclusivity last, by line.
    pub(super) exclusive_on_device: BTreeMap<u64, u32>,
    /// Of the snoop filter, least recently used first.
    pub(super) filter: Vec<Entry>,
    /// By core, least recently used first.
    pub(super) streams: Vec<Vec<Stream>>,
}

impl<M: MemoryPort> Reference<M> {
    pub fn new(machine: &Machine, memory: M, seed: u64) -> Self {
        let cores = machine.core.count as usize;
        let (mut caches, mut mshrs) = (Vec::new(), Vec::new());
        for (number, level) in machine.caches.iter().enumerate() {
            let instances = if level.scope == Scope::Private {
                cores
            } else {
                1
            };
            let cache = |i| Cache::new(level, machine.line.0, SplitMix::of(seed, number, i));
            caches.push((0..instances).map(cache).collect());
            mshrs.push(vec![level.mshrs.map(Slots::new); instances]);
        }
        let mut plain = Self {
            machine: machine.clone(),
            memory,
            counters: HierarchyCounters::default(),
            caches,
            mshrs,
            eviction_buffers: Vec::new(),
            exclusive_on_device: BTreeMap::new(),
            filter: Vec::new(),
            streams: vec![Vec::new(); cores],
        };
        let places = machine.caches[plain.last_private()].mshrs;
        let buffer = Slots::new(places.unwrap_or(EVICTION_BUFFER));
        plain.eviction_buffers = vec![buffer; cores];
        plain.counters.levels = vec![LevelCounters::default(); machine.caches.len()];
        plain.counters.boundaries = vec![BoundaryCounters::default(); machine.caches.len()];
        plain
    }

    pub fn cycles(&self, cycles: Cycles) -> Time {
        Time::cycles(cycles, self.machine.core.clock)
    }

    /// The places of a level's instance for misses under way, if they are limited.
    pub fn mshrs_of(&mut self, level: usize, core: u32) -> Option<&mut Slots> {
        let instance = self.instance(level, core);
        self.mshrs[level][instance].as_mut()
    }
}
