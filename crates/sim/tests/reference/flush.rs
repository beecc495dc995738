//! Flushes and demotes.

use prestore_sim::{Flushed, LineState, MemoryPort, Sent, Time};
use prestore_trace::{FlushKind, LineAddr};

use super::cache::Copy;
use super::model::{Operation, Reference};
use super::search::Taken;

impl<M: MemoryPort> Reference<M> {
    /// When it is known what there is of a line.
    pub(super) fn looked_up(&self, core: u32, at: Time, line: u64) -> Time {
        let nearest = (0..self.levels.len()).find(|&level| self.copy(level, core, line).is_some());
        let others = self.others(core, line);
        match nearest {
            Some(level) => {
                let copy = self.copy(level, core, line).unwrap();
                let hit = copy.arrives.max(at + self.levels[level].latency);
                match self.exclusive_other(core, line) {
                    Some(owner) => hit.max(self.first_answer(&[owner], line, at)),
                    None => hit,
                }
            }
            None if others.is_empty() => at + self.far(),
            None => self.first_answer(&others, line, at),
        }
    }

    pub fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        let known = self.looked_up(core, at, line);
        let was_private = self.is_in_private_levels(line);
        let was_anywhere = self.is_anywhere(line);
        let goes = matches!(
            kind,
            FlushKind::Clflush | FlushKind::Clflushopt | FlushKind::DcCivac
        );
        let to_shared = !goes && !retain && self.cleans_to_shared;
        let stays = !goes && retain;
        let mut all = Taken::default();
        let mut nearest_dirty = None;
        for level in 0..self.levels.len() {
            let stays = stays || (to_shared && level >= self.privates);
            for cache in &mut self.levels[level].caches {
                let Some(copy) = cache.get(line) else {
                    continue;
                };
                all.add(copy);
                if copy.dirty != 0 {
                    nearest_dirty = nearest_dirty.or(Some(level));
                }
                if stays {
                    cache.get_mut(line).unwrap().dirty = 0;
                } else {
                    cache.remove(line);
                }
            }
        }
        let mut done = known;
        if all.dirty != 0 {
            for level in nearest_dirty.unwrap()..self.levels.len() {
                self.down(level, all.dirty);
            }
            done = self.memory.write(
                core,
                known.max(all.dirty_arrives),
                LineAddr(line),
                all.dirty,
                Sent::Flushed,
            );
        } else if self.flushes_ask_memory {
            done = self.memory.ask(core, known, LineAddr(line));
        }
        if let (true, true, Some(shared)) = (to_shared, was_private, self.first_shared()) {
            let mut op = Operation {
                core,
                began: at,
                now: done,
            };
            if let Some(copy) = self.cache(shared, core).get_mut(line) {
                copy.arrives = done;
            } else {
                self.arrive(&mut op, shared, line, Copy::default(), true);
                self.is_there_from(&op, shared, line);
            }
        }
        self.end();
        let flushes = &mut self.counters.flushes;
        let (state, count) = match (all.dirty != 0, was_anywhere) {
            (true, _) => (LineState::Dirty, &mut flushes.dirty),
            (false, true) => (LineState::Clean, &mut flushes.clean),
            (false, false) => (LineState::Absent, &mut flushes.absent),
        };
        *count += 1;
        Flushed { done, state }
    }

    /// What was put into a level is there when room has been made for it.
    fn is_there_from(&mut self, op: &Operation, level: usize, line: u64) {
        if let Some(copy) = self.cache(level, op.core).get_mut(line) {
            copy.arrives = op.now;
        }
    }

    pub fn demote(&mut self, core: u32, at: Time, line: u64) -> Time {
        let has = !self.private_copies(core, line).is_empty();
        let (true, Some(shared)) = (has, self.first_shared()) else {
            self.counters.demotes_absent += 1;
            return at;
        };
        self.counters.demotes += 1;
        let began = at.max(self.got(core, line));
        let mut taken = self.take_private(core, line);
        taken.arrives = began + self.levels[shared].latency;
        let mut op = Operation {
            core,
            began: at,
            now: began + self.levels[shared].latency,
        };
        self.goes_on(&mut op, shared - 1, line, taken, true);
        self.is_there_from(&op, shared, line);
        self.end();
        op.now
    }
}
