//! Other memory types than write-back.

use prestore_sim::{ByteMask, MemoryPort, Sent, Served, ServedBy, Time};
use prestore_trace::LineAddr;

use super::Reference;

impl<M: MemoryPort> Reference<M> {
    pub fn write_through(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        let mut sent = at;
        let mut found = bytes;
        let others = self.others(core, line);
        let (dirty, _) = self.dirty_bytes(line);
        let mut theirs = 0;
        if !others.is_empty() {
            self.counters.coherence.snoops += 1;
            sent = self.all_give_up(&others, line, at);
            theirs = self.take_from(&others, line).dirty;
        }
        for level in 0..=self.last() {
            let cache = self.cache_mut(level, core);
            cache.note_use(line);
            if let Some(copy) = cache.find_mut(line) {
                found |= std::mem::take(&mut copy.dirty);
            }
            // Others' bytes are found where the directory is, beyond the last private level.
            if level == self.last_private() {
                found |= theirs;
            }
            if level < self.last() {
                self.count_down(level, found);
            }
        }
        self.count_part(found);
        self.memory.write(
            core,
            sent.max(dirty.arrives),
            LineAddr(line),
            found,
            Sent::Through,
        )
    }

    pub fn load_around(&mut self, core: u32, at: Time, line: u64) -> Served {
        let mut sent = at + self.latency(self.last());
        let (dirty, nearest) = self.dirty_bytes(line);
        if nearest.is_some() {
            let known = self.looked_up(core, line, at).max(dirty.arrives);
            self.count_down(self.last(), dirty.dirty);
            let taken = self
                .memory
                .write(core, known, LineAddr(line), dirty.dirty, Sent::Flushed);
            sent = sent.max(taken);
        }
        self.take_all(line);
        let (done, memory) = self.memory.read(core, sent, LineAddr(line));
        self.count_up(self.last()..self.last() + 1);
        Served {
            done,
            granted: done,
            by: ServedBy::Memory(memory),
        }
    }
}
