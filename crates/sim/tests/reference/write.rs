//! Writes to owned lines, and past the caches.

use prestore_sim::{ByteMask, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

use super::model::Reference;
use super::request::Want;
use super::search::Taken;

impl<M: MemoryPort> Reference<M> {
    pub fn owned(&self, core: u32, line: u64) -> bool {
        let Some(copy) = self.copy(self.writes_at, core, line) else {
            return false;
        };
        if self.writes_at < self.privates {
            return copy.exclusive;
        }
        let device_agrees = self
            .device
            .as_ref()
            .is_none_or(|device| device.is(core, line));
        device_agrees && self.others(core, line).is_empty()
    }

    pub fn write(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.writes += 1;
        let mut at = at;
        if !self.owned(core, line) {
            let served = self.request(core, at, line, Want::Own { whole: false });
            at = if self.leaves_when_granted {
                served.granted
            } else {
                served.done
            };
        }
        for level in 0..self.writes_at {
            self.cache(level, core).touch(line);
            self.down(level, bytes);
        }
        if self.copy(self.writes_at, core, line).is_none() {
            return self.past(core, at, line, bytes);
        }
        let (writes_at, when_granted) = (self.writes_at, self.leaves_when_granted);
        let cache = self.cache(writes_at, core);
        cache.touch(line);
        let copy = cache.get_mut(line).unwrap();
        copy.dirty |= bytes;
        if when_granted {
            at
        } else {
            at.max(copy.arrives)
        }
    }

    pub fn write_around(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.past(core, at, line, bytes)
    }

    fn past(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.write_arounds += 1;
        let known = self.looked_up(core, at, line);
        let taken = self.take_everywhere(line);
        let merged = taken.dirty & !bytes;
        let mut at = at;
        if merged != 0 {
            self.counters.write_arounds_merged += 1;
            at = known.max(taken.dirty_arrives);
        }
        self.down(self.levels.len() - 1, bytes | merged);
        self.end();
        self.memory
            .write(core, at, LineAddr(line), bytes | merged, Sent::Around)
    }

    pub(super) fn take_everywhere(&mut self, line: u64) -> Taken {
        let mut taken = Taken::default();
        for level in &mut self.levels {
            for cache in &mut level.caches {
                if let Some(copy) = cache.remove(line) {
                    taken.add(copy);
                }
            }
        }
        taken
    }
}
