//! Lines of memory that is not write-back.

use std::ops::RangeInclusive;

use prestore_trace::LineAddr;

use super::hierarchy::Hierarchy;
use super::write_back::{Copies, Keep};
use crate::doors::{Left, Probe};
use crate::{ByteMask, MemoryPort, Sent, Served, ServedBy, Time};

/// Of more lines than this it is looked which of them are cached, instead of at each.
const MANY: u64 = 4096;

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// Writes bytes to memory, and to the copies that the core's caches have; those of other cores go. What was
    /// dirty (the line had another type before) goes along: all copies are clean.
    pub(super) fn through(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        let others = self.directory.get(line).others(core);
        let mut copies = Copies::default();
        let (mut t, mut theirs) = (at, 0);
        if others.cores != 0 {
            self.counters.coherence.snoops += 1;
            t = self.all_have_got(others, line, at) + self.snoop;
            theirs = self.invalidate(line, others, (core, t));
        }
        for level in 0..self.levels.len() {
            if let Some(place) = self.levels[level].find(core, line) {
                self.levels[level].touch(place);
            }
            let why = (Left::Cleaned(core), t);
            self.collect_one(&mut copies, (level, core), line, true, why);
            if level + 1 == self.privates {
                copies.dirty |= theirs;
            }
            if level + 1 < self.levels.len() {
                self.count_down(level, bytes | copies.dirty);
            }
        }
        self.count_part(bytes | copies.dirty);
        if others.cores != 0
            && !self.is_cached(line)
            && let Some(grants) = &mut self.grants
        {
            grants.remove(line);
        }
        let (t, bytes) = (t.max(copies.ready), bytes | copies.dirty);
        (self.memory).write(core, t, LineAddr(line), bytes, Sent::Through)
    }

    /// Reads a line in memory, as late as a miss of all levels would. Copies go, dirty ones to memory first.
    pub(super) fn read_around(&mut self, core: u32, at: Time, line: u64) -> Served {
        let looked_up = self.look_up(core, at, line);
        let copies = self.collect(line, Keep::Nowhere, (Left::Flushed(core), looked_up));
        let last = self.levels.len() - 1;
        let mut asked = at + self.last_latency;
        if copies.dirty != 0 {
            self.count_down(last, copies.dirty);
            let (line, at) = (LineAddr(line), looked_up.max(copies.ready));
            let taken = (self.memory).write(core, at, line, copies.dirty, Sent::Flushed);
            asked = asked.max(taken);
        }
        self.count_up(last, last + 1);
        let (done, memory) = self.memory.read(core, asked, LineAddr(line));
        Served {
            done,
            granted: done,
            by: ServedBy::Memory(memory),
        }
    }

    /// Writes back and removes all of `lines` that is cached.
    pub fn flush_all(&mut self, core: u32, at: Time, lines: RangeInclusive<u64>) {
        let cached: Vec<u64> = if lines.end() - lines.start() < MANY {
            lines.filter(|line| self.is_cached(*line)).collect()
        } else {
            let held = self.levels.iter().flat_map(|level| level.held());
            let mut held: Vec<u64> = held.filter(|line| lines.contains(line)).collect();
            held.sort_unstable();
            held.dedup();
            held
        };
        for line in cached {
            self.write_back(core, at, line, Keep::Nowhere);
        }
    }

    fn is_cached(&self, line: u64) -> bool {
        let shared = &self.levels[self.privates..];
        self.directory.get(line).cores != 0 || shared.iter().any(|l| l.find(0, line).is_some())
    }
}
