//! Flushes, demotes, non-temporal writes.

use prestore_sim::{ByteMask, Flushed, LineState, MemoryPort, Sent, Time};
use prestore_trace::{FlushKind, LineAddr};

use super::model::Reference;
use super::movement::Line;

impl<M: MemoryPort> Reference<M> {
    fn known_at(&self, core: u32, at: Time, line: u64) -> Time {
        let nearest = (0..self.levels()).find(|&l| self.copy(l, core, line).is_some());
        // From another core, the first that has it.
        let handed = self.others_have_it(line, core, at).into_iter().min();
        let handed = handed.map(|got| got + self.snoop);
        match nearest {
            Some(level) => {
                let copy = self.copy(level, core, line).unwrap();
                let t = copy.ready(at + self.latency[level]);
                match (self.owner(line, core), handed) {
                    (Some(_), Some(handed)) => t.max(handed),
                    _ => t,
                }
            }
            None => handed.unwrap_or(at + self.last_latency()),
        }
    }

    /// Dirty bytes of all copies, which are clean or, in levels nearer than `keep`, gone afterwards;
    /// the nearest level that had any copy; and the nearest that had dirty bytes.
    fn collect(&mut self, line: u64, keep: usize) -> (ByteMask, usize, usize) {
        let (mut dirty, mut found, mut nearest) = (0, usize::MAX, usize::MAX);
        for (level, caches) in self.caches.iter_mut().enumerate() {
            for cache in caches {
                let Some(copy) = cache.get_mut(line) else {
                    continue;
                };
                found = found.min(level);
                dirty |= copy.dirty;
                if copy.dirty != 0 {
                    nearest = nearest.min(level);
                }
                copy.dirty = 0;
                if level < keep {
                    cache.take(line);
                }
            }
        }
        (dirty, found, nearest)
    }

    pub fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        let removes = matches!(
            kind,
            FlushKind::Clflush | FlushKind::Clflushopt | FlushKind::DcCivac
        );
        self.asked = at;
        let known = self.known_at(core, at, line);
        let to_shared = self.machine.core.clwb_to_shared && self.privates < self.levels();
        let keep = match (removes, retain) {
            (false, true) => 0,
            (false, false) if to_shared => self.privates,
            _ => self.levels(),
        };
        let (dirty, found, nearest) = self.collect(line, keep);
        let flushed = self.flushed(core, known, line, dirty, found, nearest);
        if (1..self.levels()).contains(&keep) && found < keep {
            self.put_in_shared(core, flushed.done, line, 0);
        }
        self.tidy_granted();
        flushed
    }

    fn flushed(
        &mut self,
        core: u32,
        known: Time,
        line: u64,
        dirty: ByteMask,
        found: usize,
        nearest: usize,
    ) -> Flushed {
        if dirty == 0 {
            let state = if found < self.levels() {
                self.counters.flushes.clean += 1;
                LineState::Clean
            } else {
                self.counters.flushes.absent += 1;
                LineState::Absent
            };
            return Flushed { done: known, state };
        }
        self.counters.flushes.dirty += 1;
        (nearest..self.levels()).for_each(|boundary| self.down(boundary, dirty));
        Flushed {
            done: self
                .memory
                .write(core, known, LineAddr(line), dirty, Sent::Flushed),
            state: LineState::Dirty,
        }
    }

    pub fn write_around(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        let known = self.known_at(core, at, line);
        let (dirty, ..) = self.collect(line, self.levels());
        self.tidy_granted();
        self.counters.write_arounds += 1;
        let more = dirty & !bytes != 0;
        self.counters.write_arounds_merged += u64::from(more);
        self.down(self.levels() - 1, bytes | dirty);
        let when = if more { known } else { at };
        self.memory
            .write(core, when, LineAddr(line), bytes | dirty, Sent::Around)
    }

    pub fn demote(&mut self, core: u32, at: Time, line: u64) -> Time {
        let has = (0..self.privates).any(|l| self.copy(l, core, line).is_some());
        if self.privates == self.levels() || !has {
            self.counters.demotes_absent += 1;
            return at;
        }
        self.counters.demotes += 1;
        self.asked = at;
        let (mut t, mut dirty) = (at, 0);
        for level in 0..self.privates {
            if let Some(copy) = self.cache(level, core).take(line) {
                t = copy.ready(t);
                dirty |= copy.dirty;
            }
        }
        let at = t + self.latency[self.privates];
        self.put_in_shared(core, at, line, dirty);
        self.now
    }

    fn put_in_shared(&mut self, core: u32, at: Time, line: u64, dirty: ByteMask) {
        let shared = self.privates;
        self.now = at;
        self.arrive(shared, core, Line::new(line, dirty, None), true);
        let now = self.now;
        self.cache(shared, core).get_mut(line).unwrap().ready = Some(now);
        self.tidy_granted();
    }
}
