//! Fills, and whom they throw out.

use prestore_sim::{ByteMask, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

use super::Reference;
use super::cache::Copy;
use super::levels::Taken;

/// A line on its way to the next level.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    pub line: u64,
    pub dirty: ByteMask,
    /// In private levels.
    pub exclusive: bool,
    /// Zero: it is at hand where it arrives.
    pub arrives: Time,
}

impl<M: MemoryPort> Reference<M> {
    /// Puts a copy into a level that does not have the line, for an operation of `core` that began at `began`.
    /// Answers when whom it throws out has found a place.
    pub fn put(&mut self, core: u32, level: usize, copy: Copy, began: Time, at: Time) -> Time {
        self.counters.levels[level].fills += 1;
        let (room, out) = self.cache_mut(level, core).make_room(copy.line);
        let at = match out {
            Some(out) => self.is_thrown_out(core, level, out, began, at),
            None => at,
        };
        self.cache_mut(level, core).put(room, copy);
        at
    }

    fn is_thrown_out(
        &mut self,
        core: u32,
        level: usize,
        copy: Copy,
        began: Time,
        at: Time,
    ) -> Time {
        let mut taken = Taken::default();
        taken.add(&copy);
        if self.is_inclusive(level) {
            self.take_from_nearer(core, level, copy.line, &mut taken);
        }
        self.count_victim(level, taken.dirty);
        let victim = Victim {
            line: copy.line,
            dirty: taken.dirty,
            exclusive: copy.exclusive,
            arrives: taken.moved(began),
        };
        self.goes_on(core, level, victim, began, at)
    }

    /// Nearer levels lose a line that an inclusive one loses: those of all cores, if that is shared.
    fn take_from_nearer(&mut self, core: u32, level: usize, line: u64, taken: &mut Taken) {
        let cores = if level < self.privates() {
            core..core + 1
        } else {
            0..self.machine.core.count
        };
        for nearer in 0..level {
            // The instance of a shared level is found once.
            for core in cores.clone() {
                if let Some(copy) = self.cache_mut(nearer, core).take(line) {
                    self.counters.levels[nearer].back_invalidations += 1;
                    self.count_joining(nearer, &copy, level);
                    taken.add(&copy);
                }
            }
        }
    }

    /// A victim leaves `level` for the next one, or for memory. Answers when it has found a place.
    pub fn goes_on(
        &mut self,
        core: u32,
        level: usize,
        victim: Victim,
        began: Time,
        at: Time,
    ) -> Time {
        if level == self.last() {
            if victim.dirty == 0 {
                return at;
            }
            self.count_down(level, victim.dirty);
            return self.is_evicted(core, victim, at);
        }
        let next = level + 1;
        // A clean one is not taken where it is already.
        let is_taken = self.takes_victims(next) && !self.has(next, core, victim.line);
        if victim.dirty == 0 && !is_taken {
            return at;
        }
        self.count_down(level, victim.dirty);
        self.arrives(core, next, victim, began, at)
    }

    /// A victim arrives at a level.
    pub fn arrives(
        &mut self,
        core: u32,
        level: usize,
        victim: Victim,
        began: Time,
        at: Time,
    ) -> Time {
        let is_through = self.is_through(level);
        let is_dirty = victim.dirty != 0;
        let mut at = at;
        if let Some(copy) = self.cache_mut(level, core).find_mut(victim.line) {
            if is_dirty && !is_through {
                copy.dirty |= victim.dirty;
                copy.arrives = copy.arrives.max(victim.arrives);
            }
            if is_dirty {
                self.cache_mut(level, core).note_use(victim.line);
            }
        } else if !is_through || self.takes_victims(level) {
            let copy = Copy {
                line: victim.line,
                dirty: if is_through { 0 } else { victim.dirty },
                exclusive: victim.exclusive && level < self.privates(),
                prefetched: false,
                arrives: victim.arrives,
            };
            at = self.put(core, level, copy, began, at);
        }
        if is_dirty && is_through {
            at = self.goes_on(core, level, victim, began, at);
        }
        at
    }

    /// Dirty bytes go through the core's eviction buffer. Answers when there is a place in it.
    pub fn is_evicted(&mut self, core: u32, victim: Victim, at: Time) -> Time {
        let buffer = &self.eviction_buffers[core as usize];
        let (place, free) = buffer.first();
        let at = at.max(free);
        let written = at.max(victim.arrives);
        let line = LineAddr(victim.line);
        let taken = self
            .memory
            .write(core, written, line, victim.dirty, Sent::Evicted);
        self.eviction_buffers[core as usize].hold(place, taken);
        at
    }
}
