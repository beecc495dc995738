//! Who supplies a line, when, and what becomes of other copies.

use prestore_sim::{ByteMask, MemoryPort, Served, ServedBy, Time};
use prestore_trace::LineAddr;

use super::Reference;
use super::request::{Asked, Source};
use super::victims::Victim;

/// How a line that was found comes to the core.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    pub done: Time,
    pub granted: Time,
    pub by: ServedBy,
    pub exclusive: bool,
    /// Dirty bytes that come along.
    pub dirty: ByteMask,
}

impl Coming {
    pub fn served(&self) -> Served {
        Served {
            done: self.done,
            granted: self.granted,
            by: self.by,
        }
    }

    /// Somebody agrees that the core may write the line.
    fn agreed(&mut self, at: Time) {
        self.done = self.done.max(at);
        self.granted = self.granted.max(at);
    }
}

impl<M: MemoryPort> Reference<M> {
    /// Asks all that have a say in it for the line, and takes it out of where it does not stay.
    pub fn comes(&mut self, asked: &Asked, source: Source, at: Time) -> Coming {
        match source {
            Source::Level(level) if level < self.privates() => {
                self.private_supplies(asked, level, at)
            }
            Source::Level(level) => self.shared_supplies(asked, level, at),
            Source::Owner(owner) => self.owner_supplies(asked, owner, at),
            Source::Sharers => self.sharers_supply(asked, at),
            Source::Memory => self.memory_supplies(asked, at),
        }
    }

    fn private_supplies(&mut self, asked: &Asked, level: usize, at: Time) -> Coming {
        let (core, line) = (asked.core, asked.line);
        let mut coming = self.hit(asked, level, at);
        coming.exclusive = self.cache(level, core).find(line).unwrap().exclusive;
        if !asked.owns() {
            self.reads(core, line);
        } else if !coming.exclusive {
            self.counters.coherence.upgrades += 1;
            let directory = self.nearest_shared().unwrap_or(self.last());
            if self.others(core, line).is_empty() {
                coming.agreed(at + self.latency(directory));
            }
            self.becomes_only(asked, at, &mut coming);
            self.follow(core, line, asked.began, coming.done);
        }
        self.moves_nearer(asked, level, &mut coming);
        coming
    }

    fn shared_supplies(&mut self, asked: &Asked, level: usize, at: Time) -> Coming {
        let (core, line) = (asked.core, asked.line);
        let mut coming = self.hit(asked, level, at);
        if asked.owns() {
            self.becomes_only(asked, at, &mut coming);
        } else {
            let may = self.reads(core, line);
            coming.exclusive = may && self.others(core, line).is_empty();
        }
        if coming.exclusive || self.privates() == 0 {
            self.moves_nearer(asked, level, &mut coming);
        }
        coming
    }

    fn owner_supplies(&mut self, asked: &Asked, owner: u32, at: Time) -> Coming {
        let mut coming = self.snooped(&[owner], asked.line, at);
        if asked.owns() {
            self.becomes_only(asked, at, &mut coming);
        } else {
            self.counters.coherence.snoops += 1;
            self.reads(asked.core, asked.line);
            coming.done = self.becomes_shared(asked, owner, coming.done);
        }
        coming
    }

    fn sharers_supply(&mut self, asked: &Asked, at: Time) -> Coming {
        let others = self.others(asked.core, asked.line);
        let mut coming = self.snooped(&others, asked.line, at);
        if asked.owns() {
            self.becomes_only(asked, at, &mut coming);
        } else {
            self.counters.coherence.snoops += 1;
            self.reads(asked.core, asked.line);
        }
        coming
    }

    fn memory_supplies(&mut self, asked: &Asked, at: Time) -> Coming {
        let (core, line) = (asked.core, asked.line);
        let sent = at + self.latency(self.last());
        let mut coming = Coming {
            done: sent,
            granted: sent,
            by: ServedBy::Cache(self.last() as u8),
            exclusive: true,
            dirty: 0,
        };
        if !asked.is_whole() {
            let (data, memory) = self.memory.read(core, sent, LineAddr(line));
            coming.done = data;
            coming.by = ServedBy::Memory(memory);
            self.counters.coherence.ownership_reads += u64::from(asked.owns());
            if self.is_on_device() {
                coming.granted = data;
            }
        }
        if asked.owns() {
            if let Some(agrees) = self.gains(core, line, coming.done) {
                coming.agreed(agrees);
            }
        } else {
            coming.exclusive = self.reads(core, line);
        }
        coming
    }

    /// The core's own cache, or a shared one, has the line.
    fn hit(&mut self, asked: &Asked, level: usize, at: Time) -> Coming {
        let done = at + self.latency(level);
        let cache = self.cache_mut(level, asked.core);
        cache.note_use(asked.line);
        let copy = cache.find_mut(asked.line).unwrap();
        let done = done.max(copy.arrives);
        if copy.arrives <= at {
            copy.arrives = Time::ZERO;
        }
        Coming {
            done,
            granted: done,
            by: ServedBy::Cache(level as u8),
            exclusive: false,
            dirty: 0,
        }
    }

    /// Other cores answer.
    fn snooped(&mut self, others: &[u32], line: u64, at: Time) -> Coming {
        self.counters.coherence.peer_lines += 1;
        let done = self.first_answers(others, line, at);
        Coming {
            done,
            granted: done,
            by: ServedBy::Peer,
            exclusive: false,
            dirty: 0,
        }
    }

    /// All other cores' copies go, and a directory on the device agrees, where it has to be asked.
    fn becomes_only(&mut self, asked: &Asked, at: Time, coming: &mut Coming) {
        let (core, line) = (asked.core, asked.line);
        let others = self.others(core, line);
        if !others.is_empty() {
            self.counters.coherence.snoops += 1;
            coming.agreed(self.all_give_up(&others, line, at));
            coming.dirty |= self.take_from(&others, line).dirty;
        }
        if let Some(agrees) = self.gains(core, line, at + self.latency(self.last())) {
            coming.agreed(agrees);
        }
        coming.exclusive = true;
    }

    /// A level of exclusive inclusion does not keep what a nearer one gets.
    fn moves_nearer(&mut self, asked: &Asked, level: usize, coming: &mut Coming) {
        if self.is_exclusive(level) && level > asked.start {
            let cache = self.cache_mut(level, asked.core);
            coming.dirty |= cache.take(asked.line).unwrap().dirty;
        }
    }

    /// Another core's exclusive copy becomes a shared one, and its dirty bytes go on as a victim's. Answers when they
    /// have found a place.
    fn becomes_shared(&mut self, asked: &Asked, owner: u32, done: Time) -> Time {
        let line = asked.line;
        let before = self.private_copies(owner, line);
        let mut dirty = 0;
        for level in 0..self.privates() {
            if let Some(copy) = self.cache_mut(level, owner).find_mut(line) {
                copy.exclusive = false;
                dirty |= std::mem::take(&mut copy.dirty);
            }
        }
        if dirty == 0 {
            return done;
        }
        self.count_private_victim(line, &before);
        let victim = Victim {
            line,
            dirty,
            exclusive: false,
            arrives: done,
        };
        match self.nearest_shared() {
            Some(level) => self.arrives(asked.core, level, victim, asked.began, done),
            None => self.is_evicted(asked.core, victim, done),
        }
    }
}
