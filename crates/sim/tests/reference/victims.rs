//! What makes room goes to the next level, at the end to memory.

use prestore_machine::Inclusion;
use prestore_sim::{ByteMask, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

use super::cache::Copy;
use super::model::{Operation, Reference};
use super::search::Taken;

impl<M: MemoryPort> Reference<M> {
    /// Puts a line into a level where it is not; who makes room for it goes first.
    pub(super) fn fill(&mut self, op: &mut Operation, level: usize, line: u64, copy: Copy) {
        let (way, is_distant, victim) = self.cache(level, op.core).make_room(line);
        if let Some((victim, copy)) = victim {
            self.evict(op, level, victim, copy);
        }
        self.counters.levels[level].fills += 1;
        self.cache(level, op.core)
            .place(way, is_distant, line, copy);
    }

    fn evict(&mut self, op: &mut Operation, level: usize, line: u64, copy: Copy) {
        let mut taken = Taken::default();
        taken.add(copy);
        if level > 0 && self.levels[level].inclusion == Inclusion::Inclusive {
            let cores = if level < self.privates {
                op.core..op.core + 1
            } else {
                0..self.cores
            };
            for nearer in 0..level {
                let instances = if nearer < self.privates {
                    cores.clone()
                } else {
                    0..1
                };
                for core in instances {
                    if let Some(copy) = self.cache(nearer, core).remove(line) {
                        taken.add(copy);
                        self.counters.levels[nearer].back_invalidations += 1;
                        self.passes(nearer, level, copy.dirty);
                    }
                }
            }
        }
        let counters = &mut self.counters.levels[level];
        if taken.dirty == 0 {
            counters.clean_evictions += 1;
        } else {
            counters.dirty_evictions += 1;
        }
        self.goes_on(op, level, line, taken, false);
    }

    /// What was taken out of `level` (and nearer ones) arrives at the next.
    pub(super) fn goes_on(
        &mut self,
        op: &mut Operation,
        level: usize,
        line: u64,
        taken: Taken,
        always: bool,
    ) {
        let is_on_its_way = taken.arrives > op.began;
        let arrives = if is_on_its_way {
            taken.arrives
        } else {
            Time::ZERO
        };
        let exclusive = taken.exclusive;
        let copy = Copy {
            dirty: taken.dirty,
            exclusive,
            prefetched: false,
            arrives,
        };
        self.arrive(op, level + 1, line, copy, always);
    }

    /// A victim arrives at `level`. `always`: it is taken even where clean victims are not.
    pub(super) fn arrive(
        &mut self,
        op: &mut Operation,
        level: usize,
        line: u64,
        victim: Copy,
        always: bool,
    ) {
        if level == self.levels.len() {
            if victim.dirty != 0 {
                self.down(level - 1, victim.dirty);
                self.write_victim(op, line, victim);
            }
            return;
        }
        let through = self.levels[level].through;
        let is_there = self.copy(level, op.core, line).is_some();
        let takes = always || !self.is_filled_on_miss(level) || (victim.dirty != 0 && !through);
        if victim.dirty != 0 || (takes && !is_there) {
            self.down(level - 1, victim.dirty);
        }
        let kept = if through { 0 } else { victim.dirty };
        if is_there && (victim.dirty != 0 || always) {
            if victim.dirty != 0 {
                self.cache(level, op.core).touch(line);
            }
            if let Some(copy) = self.cache(level, op.core).get_mut(line) {
                copy.dirty |= kept;
                if kept != 0 || always {
                    copy.arrives = copy.arrives.max(victim.arrives);
                }
            }
        } else if !is_there && takes {
            let exclusive = victim.exclusive && level < self.privates;
            self.fill(
                op,
                level,
                line,
                Copy {
                    dirty: kept,
                    exclusive,
                    ..victim
                },
            );
        }
        if through && victim.dirty != 0 {
            self.arrive(op, level + 1, line, victim, false);
        }
    }

    /// Bytes of a line went from `level` to the next.
    pub(super) fn down(&mut self, level: usize, bytes: ByteMask) {
        self.counters.boundaries[level].down_lines += 1;
        self.counters.boundaries[level].down_bytes += u64::from(bytes.count_ones());
    }

    /// Bytes of a line, if any, went down from one level to another.
    pub(super) fn passes(&mut self, from: usize, to: usize, bytes: ByteMask) {
        for level in from..to {
            if bytes != 0 {
                self.down(level, bytes);
            }
        }
    }

    fn write_victim(&mut self, op: &mut Operation, line: u64, victim: Copy) {
        let buffer = &mut self.leaving[op.core as usize];
        let (place, free) = buffer.first_free();
        op.now = op.now.max(free);
        let at = op.now.max(victim.arrives);
        let taken = self
            .memory
            .write(op.core, at, LineAddr(line), victim.dirty, Sent::Evicted);
        buffer.hold(place, taken);
    }
}
