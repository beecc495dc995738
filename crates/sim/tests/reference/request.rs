//! Loads, ownership, writes.

use prestore_machine::Inclusion;
use prestore_sim::{ByteMask, MemoryPort, Served, ServedBy, Time};
use prestore_trace::LineAddr;

use super::model::Reference;
use super::movement::Line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Read,
    Own { whole: bool },
}

impl<M: MemoryPort> Reference<M> {
    pub fn request(&mut self, core: u32, at: Time, line: u64, want: Want) -> Served {
        let nearest = if want == Want::Read { 0 } else { self.w };
        self.asked = at;
        let mut t = at;
        let mut missed = Vec::new();
        let private = (nearest..self.privates).find(|&level| {
            let hit = self.copy(level, core, line).is_some();
            if !hit {
                t = self.miss(level, core, t, want);
                missed.push(level);
            }
            hit
        });
        let (by, from, granted) = if let Some(level) = private {
            self.in_private(core, t, line, want, nearest, level);
            (ServedBy::Cache(level as u8), level, None)
        } else {
            let (by, from, granted) = self.beyond(core, t, line, want, nearest, &mut missed);
            (by, from, Some(granted))
        };
        for level in missed {
            let now = self.now;
            if let Some(slots) = &mut self.cache(level, core).misses {
                slots.sort();
                slots[0] = now;
            }
        }
        let done = self.now;
        self.tidy_granted();
        if want != (Want::Own { whole: true }) || from < self.levels() {
            self.prefetch_after(core, at, line, from > nearest, from);
        }
        Served {
            done,
            granted: granted.unwrap_or(done),
            by,
        }
    }

    fn miss(&mut self, level: usize, core: u32, at: Time, want: Want) -> Time {
        match want {
            Want::Read => self.counters.levels[level].load_misses += 1,
            Want::Own { .. } => self.counters.levels[level].own_misses += 1,
        }
        match &self.cache(level, core).misses {
            Some(slots) => at.max(*slots.iter().min().unwrap()),
            None => at,
        }
    }

    fn hit(&mut self, level: usize, core: u32, at: Time, line: u64, want: Want) -> Time {
        match want {
            Want::Read => self.counters.levels[level].load_hits += 1,
            Want::Own { .. } => self.counters.levels[level].own_hits += 1,
        }
        self.use_copy(level, core, at, line)
    }

    pub fn use_copy(&mut self, level: usize, core: u32, at: Time, line: u64) -> Time {
        let latency = self.latency[level];
        let cache = self.cache(level, core);
        cache.touch(line);
        let copy = cache.get_mut(line).unwrap();
        let done = copy.ready(at + latency);
        if copy.ready.is_some_and(|ready| ready <= at) {
            copy.ready = None;
        }
        let first = std::mem::take(&mut copy.prefetched);
        self.first_use |= first;
        done
    }

    fn in_private(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        want: Want,
        nearest: usize,
        level: usize,
    ) {
        let mut done = self.hit(level, core, at, line, want);
        let mut exclusive = self.copy(level, core, line).unwrap().exclusive;
        if want != Want::Read && !exclusive {
            self.counters.upgrades += 1;
            let agreed = if self.holders(line, Some(core)).is_empty() {
                let directory = self.privates.min(self.levels() - 1);
                at + self.latency[directory]
            } else {
                self.counters.snoops += 1;
                let last = self.others_have_it(line, core, at).into_iter().max();
                self.take_from_others(core, line);
                last.unwrap() + self.snoop
            };
            done = done.max(agreed);
            exclusive = true;
            self.make_exclusive(core, line);
            self.follow(core, line);
            let device = self.device_gives(core, at + self.last_latency(), line);
            done = done.max(device.unwrap_or(done));
        }
        self.now = done;
        if level == nearest {
            return;
        }
        let mut dirty = 0;
        if self.inclusion(level) == Inclusion::Exclusive {
            dirty = self.cache(level, core).take(line).unwrap().dirty;
        }
        self.up(nearest, level);
        self.fill(core, line, nearest, level, dirty, exclusive);
    }

    fn make_exclusive(&mut self, core: u32, line: u64) {
        for level in 0..self.privates {
            if let Some(copy) = self.cache(level, core).get_mut(line) {
                copy.exclusive = true;
            }
        }
    }

    fn take_from_others(&mut self, core: u32, line: u64) -> ByteMask {
        let mut dirty = 0;
        for other in self.holders(line, Some(core)) {
            for level in 0..self.privates {
                dirty |= self.cache(level, other).take(line).map_or(0, |c| c.dirty);
            }
        }
        dirty
    }

    fn beyond(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        want: Want,
        nearest: usize,
        missed: &mut Vec<usize>,
    ) -> (ServedBy, usize, Time) {
        let own = want != Want::Read;
        let others = !self.holders(line, Some(core)).is_empty();
        let owner = self.owner(line, core);
        let peers_before = self.privates.max(nearest + 1);
        let mut t = at;
        let mut shared = None;
        if owner.is_none() {
            for level in self.privates.max(nearest)..self.levels() {
                if self.copy(level, core, line).is_some() {
                    shared = Some(level);
                    break;
                }
                t = self.miss(level, core, t, want);
                missed.push(level);
            }
        }
        let (mut done, by, from) = if let Some(level) = shared {
            let done = self.hit(level, core, t, line, want);
            (done, ServedBy::Cache(level as u8), level)
        } else if others {
            self.counters.peer_lines += 1;
            let first = self.others_have_it(line, core, t).into_iter().min();
            (first.unwrap() + self.snoop, ServedBy::Peer, peers_before)
        } else if want == (Want::Own { whole: true }) {
            let last = self.levels() - 1;
            (
                t + self.last_latency(),
                ServedBy::Cache(last as u8),
                last + 1,
            )
        } else {
            let (done, memory) = self
                .memory
                .read(core, t + self.last_latency(), LineAddr(line));
            (done, ServedBy::Memory(memory), self.levels())
        };
        if shared.is_some() || by == ServedBy::Peer || matches!(by, ServedBy::Memory(_)) {
            self.up(nearest, from);
        }
        if others && (own || by == ServedBy::Peer) {
            self.counters.snoops += 1;
        }
        let from_memory = matches!(by, ServedBy::Memory(_));
        let mut granted = if from_memory && !self.on_device() {
            t + self.last_latency()
        } else {
            done
        };
        let mut dirty = 0;
        if own {
            if let Some(last) = self.others_have_it(line, core, t).into_iter().max() {
                done = done.max(last + self.snoop);
                granted = granted.max(last + self.snoop);
            }
            dirty = self.take_from_others(core, line);
            let ask = if from_memory {
                done
            } else {
                t + self.last_latency()
            };
            if let Some(agreed) = self.device_gives(core, ask, line) {
                done = done.max(agreed);
                granted = granted.max(agreed);
            }
        }
        self.now = done;
        let exclusive = own || self.read_gives_exclusive(core, line);
        dirty |= self.leave_exclusive_level(core, line, nearest, shared, exclusive);
        if !own {
            self.share(core, line, owner);
        }
        if nearest < self.privates {
            self.follow(core, line);
        }
        self.fill(core, line, nearest, from, dirty, exclusive);
        if own && self.w < self.privates {
            self.make_exclusive(core, line);
        }
        (by, from, granted)
    }

    pub fn leave_exclusive_level(
        &mut self,
        core: u32,
        line: u64,
        nearest: usize,
        level: Option<usize>,
        exclusive: bool,
    ) -> ByteMask {
        match level {
            Some(level)
                if exclusive
                    && level > nearest
                    && self.inclusion(level) == Inclusion::Exclusive =>
            {
                self.cache(level, core).take(line).unwrap().dirty
            }
            _ => 0,
        }
    }

    /// Core `core` will read what `owner` had for its own.
    pub fn share(&mut self, core: u32, line: u64, owner: Option<u32>) {
        if self.granted.get(&line).is_some_and(|&c| c != core) {
            self.granted.remove(&line);
        }
        let Some(owner) = owner else {
            return;
        };
        let mut dirty = 0;
        for level in 0..self.privates {
            if let Some(copy) = self.cache(level, owner).get_mut(line) {
                copy.exclusive = false;
                dirty |= std::mem::take(&mut copy.dirty);
            }
        }
        if dirty != 0 {
            let comes = Some(self.now);
            self.arrive(self.privates, core, Line::new(line, dirty, comes), false);
        }
    }

    pub fn owned(&self, core: u32, line: u64) -> bool {
        let Some(copy) = self.copy(self.w, core, line) else {
            return false;
        };
        if self.w < self.privates {
            return copy.exclusive;
        }
        let mine = !self.on_device() || self.granted.get(&line) == Some(&core);
        mine && self.holders(line, Some(core)).is_empty()
    }

    pub fn write(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.writes += 1;
        let at_once = self.machine.core.store_buffer.leaves_when_granted;
        let mut at = at;
        if !self.owned(core, line) {
            let owned = self.request(core, at, line, Want::Own { whole: false });
            at = if at_once { owned.granted } else { owned.done };
        }
        for level in 0..self.w {
            self.cache(level, core).touch(line);
            self.down(level, bytes);
        }
        let w = self.w;
        self.cache(w, core).touch(line);
        if let Some(copy) = self.cache(w, core).get_mut(line) {
            copy.dirty |= bytes;
            return if at_once { at } else { copy.ready(at) };
        }
        self.write_around(core, at, line, bytes)
    }
}
