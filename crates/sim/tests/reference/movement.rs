//! Fills and victims.

use prestore_machine::Inclusion;
use prestore_sim::{ByteMask, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

use super::cache::Copy;
use super::model::Reference;

/// A line on its way from level to level.
#[derive(Clone, Copy)]
pub struct Line {
    pub line: u64,
    pub dirty: ByteMask,
    pub exclusive: bool,
    /// When its data comes to where it left; `None`: it has.
    pub comes: Option<Time>,
}

impl Line {
    pub fn new(line: u64, dirty: ByteMask, comes: Option<Time>) -> Self {
        Self {
            line,
            dirty,
            exclusive: false,
            comes,
        }
    }
}

impl<M: MemoryPort> Reference<M> {
    /// Fills the levels before `from` down to `nearest`.
    pub fn fill(
        &mut self,
        core: u32,
        line: u64,
        nearest: usize,
        from: usize,
        mut dirty: ByteMask,
        exclusive: bool,
    ) {
        for level in (nearest..from).rev() {
            let on_miss = matches!(
                self.inclusion(level),
                Inclusion::Inclusive | Inclusion::NonInclusive
            );
            if level != nearest && !on_miss {
                continue;
            }
            let mut here = 0;
            if !self.through(level) {
                here = dirty;
                dirty = 0;
            }
            self.put(level, core, line, here, exclusive);
            let now = self.now;
            if let Some(copy) = self.cache(level, core).get_mut(line) {
                copy.ready = Some(now);
            }
        }
        assert_eq!(dirty, 0, "dirty bytes found no place");
    }

    fn put(&mut self, level: usize, core: u32, line: u64, dirty: ByteMask, exclusive: bool) {
        let (way, victim) = self.cache(level, core).victim_for(line).unwrap();
        if let Some(victim) = victim {
            self.evict(level, core, victim);
        }
        let exclusive = exclusive && level < self.privates;
        self.cache(level, core).put(
            way,
            Copy {
                line,
                dirty,
                exclusive,
                prefetched: false,
                ready: None,
            },
        );
        self.counters.levels[level].fills += 1;
    }

    fn evict(&mut self, level: usize, core: u32, line: u64) {
        let victim = self.cache(level, core).take(line).unwrap();
        let mut gone = Line {
            exclusive: victim.exclusive,
            ..Line::new(line, victim.dirty, victim.ready)
        };
        if level > 0 && self.inclusion(level) == Inclusion::Inclusive {
            for nearer in 0..level {
                let cores = if level < self.privates {
                    vec![core]
                } else if nearer < self.privates {
                    (0..self.machine.core.count).collect()
                } else {
                    vec![0]
                };
                for core in cores {
                    self.back_invalidate(nearer, core, level, &mut gone);
                }
            }
        }
        let counters = &mut self.counters.levels[level];
        if gone.dirty == 0 {
            counters.clean_evictions += 1;
        } else {
            counters.dirty_evictions += 1;
        }
        self.arrive(level + 1, core, gone, false);
    }

    fn back_invalidate(&mut self, level: usize, core: u32, to: usize, gone: &mut Line) {
        let Some(copy) = self.cache(level, core).take(gone.line) else {
            return;
        };
        self.counters.levels[level].back_invalidations += 1;
        if copy.dirty != 0 {
            (level..to).for_each(|boundary| self.down(boundary, copy.dirty));
        }
        gone.dirty |= copy.dirty;
        gone.comes = gone.comes.max(copy.ready);
    }

    /// A victim arrives at `level`.
    pub fn arrive(&mut self, level: usize, core: u32, gone: Line, demoted: bool) {
        let Line {
            line,
            dirty,
            exclusive,
            comes,
        } = gone;
        if level == self.levels() {
            if dirty != 0 {
                self.down(level - 1, dirty);
                self.write_victim(core, gone);
            }
            return;
        }
        let takes_clean = demoted
            || matches!(
                self.inclusion(level),
                Inclusion::NonInclusiveVictim | Inclusion::Exclusive
            ) && level > 0;
        let there = self.cache(level, core).has(line);
        if dirty == 0 && (there || !takes_clean) {
            return;
        }
        if level > 0 {
            self.down(level - 1, dirty);
        }
        if self.through(level) {
            if there {
                self.cache(level, core).touch(line);
            } else if takes_clean {
                self.put(level, core, line, 0, exclusive);
                self.not_before(level, core, line, comes);
            }
            if dirty != 0 {
                self.arrive(level + 1, core, gone, false);
            }
        } else if there {
            self.cache(level, core).touch(line);
            self.cache(level, core).get_mut(line).unwrap().dirty |= dirty;
            self.not_before(level, core, line, comes);
        } else {
            self.put(level, core, line, dirty, exclusive);
            self.not_before(level, core, line, comes);
        }
    }

    /// What is on its way is not at hand before it comes.
    fn not_before(&mut self, level: usize, core: u32, line: u64, comes: Option<Time>) {
        let asked = self.asked;
        let copy = self.cache(level, core).get_mut(line).unwrap();
        if comes.is_some_and(|comes| comes > asked) {
            copy.ready = copy.ready.max(comes);
        }
    }

    fn write_victim(&mut self, core: u32, gone: Line) {
        let buffer = &mut self.buffers[core as usize];
        buffer.sort();
        self.now = self.now.max(buffer[0]);
        let at = gone.comes.map_or(self.now, |comes| comes.max(self.now));
        buffer[0] = (self.memory).write(core, at, LineAddr(gone.line), gone.dirty, Sent::Evicted);
    }

    /// Entries of lines that no private level has any more are free.
    fn tidy_filter(&mut self) {
        let mut filter = std::mem::take(&mut self.filter);
        for set in &mut filter {
            set.retain(|&line| !self.holders(line, None).is_empty());
        }
        self.filter = filter;
    }

    /// The snoop filter follows `line`, about to come to a private level of `core`.
    pub fn follow(&mut self, core: u32, line: u64) {
        let Some(size) = self.machine.directory.filter else {
            return;
        };
        self.tidy_filter();
        let sets = self.filter.len() as u64;
        let set = &mut self.filter[(line % sets) as usize];
        let known = set.contains(&line);
        set.retain(|&l| l != line);
        let full = set.len() == size.ways as usize;
        let gone = (!known && full).then(|| set.remove(0));
        set.push(line);
        let Some(gone) = gone else {
            return;
        };
        self.counters.filter_evictions += 1;
        let mut gone = Line::new(gone, 0, None);
        for level in 0..self.privates {
            for core in 0..self.machine.core.count {
                self.back_invalidate(level, core, self.privates - 1, &mut gone);
            }
        }
        self.arrive(self.privates, core, gone, false);
    }
}
