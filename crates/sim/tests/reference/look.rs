//! The search for a line, from level to level.

use prestore_sim::{MemoryPort, Time};

use super::model::Reference;
use super::request::{Source, Want, Way};

impl<M: MemoryPort> Reference<M> {
    /// Goes from level to level. Answers who has the line, and when it comes from there (memory: when it is
    /// asked).
    pub(super) fn look(&mut self, core: u32, line: u64, way: &mut Way) -> (Source, Time) {
        for level in way.start..self.privates {
            if let Some(done) = self.look_in(level, core, line, way) {
                return (Source::Private(level), done);
            }
        }
        if let Some(owner) = self.exclusive_other(core, line) {
            return (
                Source::Owner(owner),
                self.first_answer(&[owner], line, way.at),
            );
        }
        for level in way.start.max(self.privates)..self.levels.len() {
            if let Some(done) = self.look_in(level, core, line, way) {
                return (Source::Shared(level), done);
            }
        }
        let others = self.others(core, line);
        if !others.is_empty() {
            return (Source::Sharers, self.first_answer(&others, line, way.at));
        }
        (Source::Memory, way.at + self.far())
    }

    /// Looks in a level: when a hit is done. A miss takes a place.
    fn look_in(&mut self, level: usize, core: u32, line: u64, way: &mut Way) -> Option<Time> {
        let is_hit = self.copy(level, core, line).is_some();
        let counters = &mut self.counters.levels[level];
        if !way.is_prefetch {
            match (way.want, is_hit) {
                (Want::Read, true) => counters.load_hits += 1,
                (Want::Read, false) => counters.load_misses += 1,
                (Want::Own { .. }, true) => counters.own_hits += 1,
                (Want::Own { .. }, false) => counters.own_misses += 1,
            }
        }
        if is_hit {
            return Some(self.hit(level, core, line, way));
        }
        let instance = self.instance(level, core);
        if way.is_prefetch && level > way.start {
            return None;
        }
        if let Some(mshrs) = &self.levels[level].mshrs {
            let (place, free) = mshrs[instance].first_free();
            way.at = way.at.max(free);
            way.held.push((level, place));
        }
        None
    }

    fn hit(&mut self, level: usize, core: u32, line: u64, way: &mut Way) -> Time {
        let (at, latency) = (way.at, self.levels[level].latency);
        let cache = self.cache(level, core);
        cache.touch(line);
        let copy = cache.get_mut(line).unwrap();
        if copy.arrives <= at {
            copy.arrives = Time::ZERO;
        }
        let done = copy.arrives.max(at + latency);
        if copy.prefetched && !way.is_prefetch {
            copy.prefetched = false;
            way.is_first_use = true;
            self.counters.prefetches.useful += 1;
        }
        done
    }
}
