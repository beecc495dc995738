//! Flushes, demotes, non-temporal writes.

use prestore_sim::{ByteMask, Flushed, LineState, MemoryPort, Sent, Time};
use prestore_trace::{FlushKind, LineAddr};

use super::Reference;
use super::cache::Copy;
use super::levels::Taken;
use super::victims::Victim;

impl<M: MemoryPort> Reference<M> {
    /// When a flush knows what there is.
    pub fn looked_up(&self, core: u32, line: u64, at: Time) -> Time {
        let others = self.others(core, line);
        let mut levels = 0..=self.last();
        match levels.find(|&level| self.has(level, core, line)) {
            Some(level) => {
                let arrives = self.cache(level, core).find(line).unwrap().arrives;
                let hit = (at + self.latency(level)).max(arrives);
                match self.exclusive_elsewhere(core, line) {
                    Some(owner) => hit.max(self.first_answers(&[owner], line, at)),
                    None => hit,
                }
            }
            None if others.is_empty() => at + self.latency(self.last()),
            None => self.first_answers(&others, line, at),
        }
    }

    /// The dirty bytes of all copies, when the last of them arrive, and the nearest level that has any.
    pub fn dirty_bytes(&self, line: u64) -> (Taken, Option<usize>) {
        let (mut dirty, mut nearest) = (Taken::default(), None);
        for (level, copy) in self.copies(line) {
            if copy.dirty != 0 {
                dirty.add(&copy);
                nearest = nearest.or(Some(level));
            }
        }
        (dirty, nearest)
    }

    pub fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        let is_clean = matches!(
            kind,
            FlushKind::Clwb | FlushKind::DcCvac | FlushKind::DcCvap
        );
        let stays = is_clean && retain;
        let mut known = self.looked_up(core, line, at);
        if !stays {
            known = known.max(self.given_up(core, line, at));
        }
        let is_absent = self.copies(line).is_empty();
        let (dirty, nearest) = self.dirty_bytes(line);
        let (state, done) = if let Some(nearest) = nearest {
            for boundary in nearest..=self.last() {
                self.count_down(boundary, dirty.dirty);
            }
            let sent = known.max(dirty.arrives);
            let done = self
                .memory
                .write(core, sent, LineAddr(line), dirty.dirty, Sent::Flushed);
            (LineState::Dirty, done)
        } else {
            let done = if self.machine.core.flushes_ask_memory {
                self.memory.ask(core, known, LineAddr(line))
            } else {
                known
            };
            let state = if is_absent {
                LineState::Absent
            } else {
                LineState::Clean
            };
            (state, done)
        };
        let found = match state {
            LineState::Dirty => &mut self.counters.flushes.dirty,
            LineState::Clean => &mut self.counters.flushes.clean,
            LineState::Absent => &mut self.counters.flushes.absent,
        };
        *found += 1;
        self.copies_mut(line).for_each(|copy| copy.dirty = 0);
        if !stays {
            match self.nearest_shared() {
                Some(level) if is_clean && self.machine.core.clwb_to_shared => {
                    self.leaves_shared(core, line, level, at, done);
                }
                _ => {
                    self.take_all(line);
                }
            }
        }
        Flushed { done, state }
    }

    /// Private copies, which are clean, go; if there were any, `level`, the nearest shared one, has the line.
    fn leaves_shared(&mut self, core: u32, line: u64, level: usize, began: Time, done: Time) {
        let mut taken = Taken::default();
        for holder in 0..self.machine.core.count {
            for (_, copy) in self.private_copies(holder, line) {
                taken.add(&copy);
            }
            self.take_private(holder, line);
        }
        if taken.any {
            self.count_private_victim(line, &[]);
            let victim = Victim {
                line,
                dirty: 0,
                exclusive: false,
                arrives: done,
            };
            self.comes_to_shared(core, level, victim, began, done);
        }
    }

    /// The nearest shared level gets a line whether or not it takes clean victims, and has it at hand when this is
    /// done.
    fn comes_to_shared(
        &mut self,
        core: u32,
        level: usize,
        victim: Victim,
        began: Time,
        at: Time,
    ) -> Time {
        let mut done = at;
        if self.has(level, core, victim.line) || victim.dirty != 0 && !self.is_through(level) {
            done = self.arrives(core, level, victim, began, done);
        } else {
            let copy = Copy {
                line: victim.line,
                dirty: 0,
                exclusive: false,
                prefetched: false,
                arrives: done,
            };
            done = self.put(core, level, copy, began, done);
            if victim.dirty != 0 {
                done = self.goes_on(core, level, victim, began, done);
            }
        }
        if let Some(copy) = self.cache_mut(level, core).find_mut(victim.line) {
            copy.arrives = done;
        }
        done
    }

    pub fn demote(&mut self, core: u32, at: Time, line: u64) -> Time {
        let copies = self.private_copies(core, line);
        let Some(level) = self.nearest_shared().filter(|_| !copies.is_empty()) else {
            self.counters.demotes_absent += 1;
            return at;
        };
        self.counters.demotes += 1;
        let done = at.max(self.has_got(core, line)) + self.latency(level);
        let taken = self.take_private(core, line);
        self.count_private_victim(line, &copies);
        let victim = Victim {
            line,
            dirty: taken.dirty,
            exclusive: false,
            arrives: done,
        };
        self.comes_to_shared(core, level, victim, at, done)
    }

    pub fn write_around(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.write_arounds += 1;
        let (dirty, _) = self.dirty_bytes(line);
        let mut sent = self.given_up(core, line, at);
        let mut all = bytes;
        if dirty.dirty & !bytes != 0 {
            self.counters.write_arounds_merged += 1;
            sent = sent.max(self.looked_up(core, line, at)).max(dirty.arrives);
            all |= dirty.dirty;
        }
        self.take_all(line);
        self.count_part(all);
        self.memory
            .write(core, sent, LineAddr(line), all, Sent::Around)
    }
}
