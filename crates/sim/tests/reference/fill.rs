//! A line comes to its core.

use prestore_sim::{ByteMask, MemoryPort, Time};

use super::cache::Copy;
use super::model::{Operation, Reference};
use super::request::Way;
use super::search::Taken;

impl<M: MemoryPort> Reference<M> {
    /// The snoop filter takes note of the core; an entry that goes takes its line out of the private levels.
    pub(super) fn enter(&mut self, op: &mut Operation, line: u64, way: &Way) {
        if way.start >= self.privates {
            return;
        }
        let Some(gone) = self.filter.as_mut().and_then(|filter| filter.added(line)) else {
            return;
        };
        self.counters.coherence.filter_evictions += 1;
        let mut taken = Taken::default();
        for level in 0..self.privates {
            for core in 0..self.cores {
                if let Some(copy) = self.cache(level, core).remove(gone) {
                    taken.add(copy);
                    self.counters.levels[level].back_invalidations += 1;
                    self.passes(level, self.privates - 1, copy.dirty);
                }
            }
        }
        if taken.copies > 0 {
            self.goes_on(op, self.privates - 1, gone, taken, false);
        }
    }

    /// Fills what the line passes, farthest level first.
    pub(super) fn bring(
        &mut self,
        op: &mut Operation,
        line: u64,
        way: &Way,
        from: usize,
        dirty: ByteMask,
        exclusive: bool,
    ) {
        let exclusive = exclusive && self.writes_at < self.privates;
        let is_filled = |level: &usize| *level == way.start || self.is_filled_on_miss(*level);
        let mut filled: Vec<usize> = (way.start..from.max(way.start)).filter(is_filled).collect();
        if from <= way.start && self.copy(way.start, op.core, line).is_none() {
            filled.push(way.start);
        }
        let takes_dirty = filled
            .iter()
            .copied()
            .rev()
            .find(|&level| !self.levels[level].through);
        for level in filled.into_iter().rev() {
            let copy = Copy {
                dirty: if takes_dirty == Some(level) { dirty } else { 0 },
                exclusive: exclusive && level < self.privates,
                prefetched: way.is_prefetch && level == way.start,
                arrives: Time::ZERO,
            };
            self.fill(op, level, line, copy);
            let now = op.now;
            if let Some(copy) = self.cache(level, op.core).get_mut(line) {
                copy.arrives = now;
            }
        }
        if exclusive {
            for level in 0..self.privates {
                if let Some(copy) = self.cache(level, op.core).get_mut(line) {
                    copy.exclusive = true;
                }
            }
        }
    }

    pub(super) fn up(&mut self, start: usize, from: usize) {
        for level in start..from {
            self.counters.boundaries[level].up_lines += 1;
        }
    }
}
