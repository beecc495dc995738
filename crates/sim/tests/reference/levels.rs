//! Which levels there are, and what is in them.

use prestore_machine::{Inclusion, Scope, WritePolicy};
use prestore_sim::{ByteMask, MemoryPort, Time};

use super::Reference;
use super::cache::{Cache, Copy};

/// Copies that left, taken together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Was there any?
    pub any: bool,
    pub dirty: ByteMask,
    /// When the last of them arrives.
    pub arrives: Time,
}

impl Taken {
    pub fn add(&mut self, copy: &Copy) {
        self.any = true;
        self.dirty |= copy.dirty;
        self.arrives = self.arrives.max(copy.arrives);
    }

    /// When it arrives where it is moved to, if nothing else holds it up, by an operation that began at `began`.
    pub fn moved(&self, began: Time) -> Time {
        if self.arrives > began {
            self.arrives
        } else {
            Time::ZERO
        }
    }
}

impl<M: MemoryPort> Reference<M> {
    pub fn privates(&self) -> usize {
        let levels = self.machine.caches.iter();
        levels.filter(|level| level.scope == Scope::Private).count()
    }

    pub fn last(&self) -> usize {
        self.machine.caches.len() - 1
    }

    /// Level 0 where none is private.
    pub fn last_private(&self) -> usize {
        self.privates().saturating_sub(1)
    }

    pub fn nearest_shared(&self) -> Option<usize> {
        Some(self.privates()).filter(|&level| level <= self.last())
    }

    /// Level *w*: where writes end.
    pub fn write_level(&self) -> usize {
        let mut levels = 0..=self.last();
        levels.find(|&level| !self.is_through(level)).unwrap()
    }

    pub fn is_through(&self, level: usize) -> bool {
        self.machine.caches[level].write == WritePolicy::Through
    }

    /// How a level relates to the nearer ones; the nearest one to none.
    fn inclusion(&self, level: usize) -> Option<Inclusion> {
        (level > 0).then(|| self.machine.caches[level].inclusion)
    }

    pub fn is_inclusive(&self, level: usize) -> bool {
        self.inclusion(level) == Some(Inclusion::Inclusive)
    }

    pub fn is_exclusive(&self, level: usize) -> bool {
        self.inclusion(level) == Some(Inclusion::Exclusive)
    }

    pub fn takes_victims(&self, level: usize) -> bool {
        matches!(
            self.inclusion(level),
            Some(Inclusion::Exclusive | Inclusion::NonInclusiveVictim)
        )
    }

    pub fn latency(&self, level: usize) -> Time {
        self.cycles(self.machine.caches[level].latency)
    }

    /// Which instance of a level a core uses.
    pub fn instance(&self, level: usize, core: u32) -> usize {
        if level < self.privates() {
            core as usize
        } else {
            0
        }
    }

    pub fn cache(&self, level: usize, core: u32) -> &Cache {
        &self.caches[level][self.instance(level, core)]
    }

    pub fn cache_mut(&mut self, level: usize, core: u32) -> &mut Cache {
        let instance = self.instance(level, core);
        &mut self.caches[level][instance]
    }

    pub fn has(&self, level: usize, core: u32, line: u64) -> bool {
        self.cache(level, core).find(line).is_some()
    }

    /// All copies, each with its level.
    pub fn copies(&self, line: u64) -> Vec<(usize, Copy)> {
        let mut found = Vec::new();
        for (level, instances) in self.caches.iter().enumerate() {
            let copies = instances.iter().filter_map(|cache| cache.find(line));
            found.extend(copies.map(|&copy| (level, copy)));
        }
        found
    }

    pub fn copies_mut(&mut self, line: u64) -> impl Iterator<Item = &mut Copy> {
        let caches = self.caches.iter_mut().flatten();
        caches.filter_map(move |cache| cache.find_mut(line))
    }

    /// Of a core, in its private levels, each with its level.
    pub fn private_copies(&self, core: u32, line: u64) -> Vec<(usize, Copy)> {
        let mut found = Vec::new();
        for level in 0..self.privates() {
            let copy = self.cache(level, core).find(line);
            found.extend(copy.map(|&copy| (level, copy)));
        }
        found
    }

    /// A core loses its private copies.
    pub fn take_private(&mut self, core: u32, line: u64) -> Taken {
        let mut taken = Taken::default();
        for level in 0..self.privates() {
            if let Some(copy) = self.cache_mut(level, core).take(line) {
                taken.add(&copy);
            }
        }
        taken
    }

    /// All copies go.
    pub fn take_all(&mut self, line: u64) -> Taken {
        let mut taken = Taken::default();
        for cache in self.caches.iter_mut().flatten() {
            if let Some(copy) = cache.take(line) {
                taken.add(&copy);
            }
        }
        taken
    }
}
