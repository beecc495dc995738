//! The state, and questions about it that are answered by looking everywhere.

use std::collections::BTreeMap;

use prestore_machine::{DirectoryHome, Inclusion, Machine, Scope, WritePolicy};
use prestore_sim::{
    BoundaryCounters, ByteMask, HierarchyCounters, LevelCounters, MemoryPort, Time,
};
use prestore_trace::LineAddr;

use super::cache::{Cache, Copy};
use super::random::Draws;

/// The hierarchy by the rules, without tricks.
pub struct Reference<M> {
    pub machine: Machine,
    /// By level, by instance.
    pub caches: Vec<Vec<Cache>>,
    pub latency: Vec<Time>,
    pub snoop: Time,
    /// How many levels are private.
    pub privates: usize,
    /// The nearest write-back level.
    pub w: usize,
    /// Snoop filter: sets of lines, the one whose use is longest ago first.
    pub filter: Vec<Vec<u64>>,
    /// Device directory: lines and who has them.
    pub granted: BTreeMap<u64, u32>,
    /// By core: until when the victims in its buffer wait.
    pub buffers: Vec<Vec<Time>>,
    /// By core: the least recently used first.
    pub streams: Vec<Vec<Stream>>,
    pub first_use: bool,
    /// When the operation began.
    pub asked: Time,
    pub now: Time,
    pub counters: HierarchyCounters,
    pub memory: M,
}

/// What a prefetcher knows of a page.
#[derive(Clone)]
pub struct Stream {
    pub page: u64,
    pub last: u64,
    pub distance: i64,
    /// Lines that it fetched or found with this distance.
    pub known: Vec<i64>,
}

impl<M: MemoryPort> Reference<M> {
    pub fn new(machine: &Machine, memory: M, seed: u64) -> Self {
        let cores = machine.core.count as usize;
        let levels = &machine.caches;
        let clock = machine.core.clock;
        let private = |l: &&prestore_machine::CacheLevel| l.scope == Scope::Private;
        let caches = levels.iter().enumerate().map(|(number, level)| {
            let instances = if private(&level) { cores } else { 1 };
            (0..instances)
                .map(|i| Cache::new(level, machine.line.0, Draws::new(seed, number, i)))
                .collect()
        });
        let privates = levels.iter().filter(private).count();
        let holds = levels[privates.max(1) - 1].mshrs.unwrap_or(16);
        let sets = machine
            .directory
            .filter
            .map_or(0, |f| f.entries / u64::from(f.ways));
        Self {
            caches: caches.collect(),
            latency: levels
                .iter()
                .map(|l| Time::cycles(l.latency, clock))
                .collect(),
            snoop: Time::cycles(machine.directory.snoop, clock),
            privates,
            w: levels
                .iter()
                .position(|l| l.write == WritePolicy::Back)
                .unwrap_or(0),
            filter: vec![Vec::new(); sets as usize],
            granted: BTreeMap::new(),
            buffers: vec![vec![Time::ZERO; holds as usize]; cores],
            streams: vec![Vec::new(); cores],
            first_use: false,
            asked: Time::ZERO,
            now: Time::ZERO,
            counters: HierarchyCounters {
                levels: vec![LevelCounters::default(); levels.len()],
                boundaries: vec![BoundaryCounters::default(); levels.len()],
                ..HierarchyCounters::default()
            },
            machine: machine.clone(),
            memory,
        }
    }

    pub fn levels(&self) -> usize {
        self.caches.len()
    }

    pub fn last_latency(&self) -> Time {
        self.latency[self.levels() - 1]
    }

    pub fn cache(&mut self, level: usize, core: u32) -> &mut Cache {
        let instance = if level < self.privates {
            core as usize
        } else {
            0
        };
        &mut self.caches[level][instance]
    }

    pub fn copy(&self, level: usize, core: u32, line: u64) -> Option<&Copy> {
        let instance = if level < self.privates {
            core as usize
        } else {
            0
        };
        self.caches[level][instance].get(line)
    }

    /// Cores that have the line in a private level, without `but`.
    pub fn holders(&self, line: u64, but: Option<u32>) -> Vec<u32> {
        (0..self.machine.core.count)
            .filter(|&core| Some(core) != but)
            .filter(|&core| (0..self.privates).any(|l| self.copy(l, core, line).is_some()))
            .collect()
    }

    /// Another core that has it exclusive.
    pub fn owner(&self, line: u64, but: u32) -> Option<u32> {
        self.holders(line, Some(but)).into_iter().find(|&core| {
            (0..self.privates).any(|l| self.copy(l, core, line).is_some_and(|c| c.exclusive))
        })
    }

    /// When, from `at` on, each of the other cores that have the line has its data.
    pub fn others_have_it(&self, line: u64, but: u32, at: Time) -> Vec<Time> {
        let cores = self.holders(line, Some(but)).into_iter();
        cores
            .map(|core| {
                let copies = (0..self.privates).filter_map(|l| self.copy(l, core, line));
                copies.map(|copy| copy.ready(at)).max().unwrap()
            })
            .collect()
    }

    pub fn on_chip(&self, line: u64) -> bool {
        self.caches.iter().flatten().any(|cache| cache.has(line))
    }

    /// Lines that left the chip are nobody's.
    pub fn tidy_granted(&mut self) {
        let mut granted = std::mem::take(&mut self.granted);
        granted.retain(|&line, _| self.on_chip(line));
        self.granted = granted;
    }

    pub fn on_device(&self) -> bool {
        self.machine.directory.home != DirectoryHome::OnChip
    }

    /// Would a read give the line to `core` exclusive?
    pub fn read_gives_exclusive(&self, core: u32, line: u64) -> bool {
        self.w < self.privates
            && self.holders(line, Some(core)).is_empty()
            && (!self.on_device() || self.granted.get(&line) == Some(&core))
    }

    pub fn inclusion(&self, level: usize) -> Inclusion {
        self.machine.caches[level].inclusion
    }

    pub fn through(&self, level: usize) -> bool {
        self.machine.caches[level].write == WritePolicy::Through
    }

    pub fn up(&mut self, nearest: usize, from: usize) {
        for boundary in nearest..from {
            self.counters.boundaries[boundary].up_lines += 1;
        }
    }

    pub fn down(&mut self, boundary: usize, dirty: ByteMask) {
        self.counters.boundaries[boundary].down_lines += 1;
        self.counters.boundaries[boundary].down_bytes += u64::from(dirty.count_ones());
    }

    /// The device gives `line` to `core`; when, if it has to be asked.
    pub fn device_gives(&mut self, core: u32, at: Time, line: u64) -> Option<Time> {
        if !self.on_device() || self.granted.insert(line, core) == Some(core) {
            return None;
        }
        self.counters.device_upgrades += 1;
        Some(self.memory.upgrade(core, at, LineAddr(line)))
    }
}
