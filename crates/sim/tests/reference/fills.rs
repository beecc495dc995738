//! How what was found comes into the levels that are filled.

use prestore_sim::{MemoryPort, Time};

use super::Reference;
use super::cache::Copy;
use super::request::{Asked, Source};
use super::sources::Coming;

impl<M: MemoryPort> Reference<M> {
    /// Fills levels, the farthest first. Answers when that ends.
    pub fn fill(&mut self, asked: &Asked, source: Source, coming: &Coming) -> Time {
        let (core, line, start) = (asked.core, asked.line, asked.start);
        // The line comes from beyond the levels before this one.
        let from = match source {
            Source::Level(level) => level,
            Source::Owner(_) | Source::Sharers => self.privates().max(start + 1),
            Source::Memory => self.last() + 1,
        };
        if !(asked.is_whole() && source == Source::Memory) {
            self.count_up(start..from);
        }
        let mut end = coming.done;
        if start < self.privates() && from >= self.privates() {
            end = self.follow(core, line, asked.began, end);
        }
        let exclusive = coming.exclusive && self.write_level() < self.privates();
        for level in 0..self.privates() {
            if let Some(copy) = self.cache_mut(level, core).find_mut(line) {
                copy.exclusive |= exclusive;
            }
        }
        let mut dirty = coming.dirty;
        for level in (start..from).rev() {
            if level != start && self.takes_victims(level) {
                continue;
            }
            let stays = if self.is_through(level) { 0 } else { dirty };
            dirty &= !stays;
            let copy = Copy {
                line,
                dirty: stays,
                exclusive: exclusive && level < self.privates(),
                prefetched: asked.prefetches && level == start,
                arrives: Time::ZERO,
            };
            end = self.put(core, level, copy, asked.began, end);
            if let Some(copy) = self.cache_mut(level, core).find_mut(line) {
                copy.arrives = end;
            }
        }
        end
    }
}
