//! Lines that are not write-back: written through, read past the caches.

use prestore_sim::{ByteMask, MemoryPort, Sent, Served, ServedBy, Time};
use prestore_trace::LineAddr;

use super::model::Reference;
use super::search::Taken;

impl<M: MemoryPort> Reference<M> {
    pub fn write_through(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        let others = self.others(core, line);
        let (mut at, mut theirs) = (at, 0);
        if !others.is_empty() {
            self.counters.coherence.snoops += 1;
            at = self.last_answer(&others, line, at);
            for other in others {
                theirs |= self.take_private(other, line).dirty;
            }
        }
        let mut along = Taken::default();
        for level in 0..self.levels.len() {
            let cache = self.cache(level, core);
            cache.touch(line);
            if let Some(copy) = cache.get_mut(line) {
                along.add(*copy);
                copy.dirty = 0;
            }
            if level + 1 == self.privates {
                along.dirty |= theirs;
            }
            self.down(level, bytes | along.dirty);
        }
        self.end();
        let (at, bytes) = (at.max(along.dirty_arrives), bytes | along.dirty);
        self.memory
            .write(core, at, LineAddr(line), bytes, Sent::Through)
    }

    pub fn load_around(&mut self, core: u32, at: Time, line: u64) -> Served {
        let known = self.looked_up(core, at, line);
        let taken = self.take_everywhere(line);
        let last = self.levels.len() - 1;
        let mut asked = at + self.far();
        if taken.dirty != 0 {
            self.down(last, taken.dirty);
            let known = known.max(taken.dirty_arrives);
            let written =
                self.memory
                    .write(core, known, LineAddr(line), taken.dirty, Sent::Flushed);
            asked = asked.max(written);
        }
        self.end();
        self.counters.boundaries[last].up_lines += 1;
        let (done, memory) = self.memory.read(core, asked, LineAddr(line));
        Served {
            done,
            granted: done,
            by: ServedBy::Memory(memory),
        }
    }
}
