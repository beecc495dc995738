//! Writes.

use prestore_sim::{ByteMask, MemoryPort, Time};

use super::Reference;
use super::request::Want;

impl<M: MemoryPort> Reference<M> {
    /// May a core write a line without asking anybody?
    pub fn owned(&self, core: u32, line: u64) -> bool {
        let level = self.write_level();
        match self.cache(level, core).find(line) {
            Some(copy) if level < self.privates() => copy.exclusive,
            Some(_) => self.others(core, line).is_empty() && self.device_says(core, line),
            None => false,
        }
    }

    /// A core writes bytes of a line. Answers when that is done.
    pub fn write(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.writes += 1;
        let level = self.write_level();
        let leaves_when_granted = self.machine.core.store_buffer.leaves_when_granted;
        let taken_back = (!self.owned(core, line)).then(|| {
            let served = self.request(core, at, line, Want::Own { whole: false });
            if leaves_when_granted {
                served.granted
            } else {
                served.done
            }
        });
        let done = taken_back.unwrap_or(at);
        for nearer in 0..level {
            self.cache_mut(nearer, core).note_use(line);
            self.count_down(nearer, bytes);
        }
        self.cache_mut(level, core).note_use(line);
        let Some(copy) = self.cache_mut(level, core).find_mut(line) else {
            return self.write_around(core, done, line, bytes);
        };
        copy.dirty |= bytes;
        if leaves_when_granted {
            done
        } else {
            done.max(copy.arrives)
        }
    }
}
