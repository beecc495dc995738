//! Flushes, demotes and non-temporal writes.

use prestore_trace::LineAddr;

use super::hierarchy::Hierarchy;
use super::leaver::Leaver;
use super::transaction::Transaction;
use crate::doors::{Left, Probe};
use crate::{ByteMask, Flushed, LineState, MemoryPort, Sent, Time};

/// Where a line that is written back stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// In all caches that have it.
    InPlace,
    /// In the nearest shared level only, where it is at hand once it is written.
    Shared,
    /// In no cache.
    Nowhere,
}

/// What the caches had of a line.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) found: bool,
    /// Private levels had copies.
    private: bool,
    pub(super) dirty: ByteMask,
    /// The nearest level with dirty bytes.
    dirty_at: usize,
    /// When the last copy that had some is at hand: they are written no sooner.
    pub(super) ready: Time,
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// Writes a line's dirty bytes to memory, wherever they are.
    pub(super) fn write_back(&mut self, core: u32, at: Time, line: u64, keep: Keep) -> Flushed {
        let mut t = self.look_up(core, at, line);
        if keep != Keep::InPlace {
            t = t.max(self.given_up(core, line, at));
        }
        let why = match keep {
            Keep::InPlace => Left::Cleaned(core),
            Keep::Shared | Keep::Nowhere => Left::Flushed(core),
        };
        let copies = self.collect(line, keep, (why, t));
        let counters = &mut self.counters.flushes;
        let state = if copies.dirty != 0 {
            counters.dirty += 1;
            LineState::Dirty
        } else if copies.found {
            counters.clean += 1;
            LineState::Clean
        } else {
            counters.absent += 1;
            LineState::Absent
        };
        let mut done = t;
        if copies.dirty != 0 {
            for level in copies.dirty_at..self.levels.len() {
                self.count_down(level, copies.dirty);
            }
            let t = t.max(copies.ready);
            done = (self.memory).write(core, t, LineAddr(line), copies.dirty, Sent::Flushed);
        } else if self.flushes_ask_memory {
            done = self.memory.ask(core, t, LineAddr(line));
        }
        if keep == Keep::Shared && copies.private {
            let mut tx = self.begin(core, at);
            tx.now = done;
            self.put_in_shared(tx, line, 0);
        }
        Flushed { done, state }
    }

    /// Puts a line that no private level has any longer into the nearest shared one, where it is at
    /// hand from then on to which the operation has come. Answers when that is.
    fn put_in_shared(&mut self, mut tx: Transaction, line: u64, dirty: ByteMask) -> Time {
        let ready = tx.now;
        let leaver = Leaver {
            ready,
            ..Leaver::at_hand(line, dirty)
        };
        self.deposit(&mut tx, self.privates, leaver, true);
        let shared = &mut self.levels[self.privates];
        if let Some(place) = shared.find(tx.core, line) {
            shared.arrives(place, tx.now);
        }
        self.end(tx)
    }

    /// Writes bytes past the caches; copies go, and their dirty bytes with them.
    pub(super) fn around(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        let looked_up = self.look_up(core, at, line);
        let mut t = self.given_up(core, line, at);
        let copies = self.collect(line, Keep::Nowhere, (Left::Flushed(core), looked_up));
        self.counters.write_arounds += 1;
        if copies.dirty & !bytes != 0 {
            self.counters.write_arounds_merged += 1;
            t = t.max(looked_up).max(copies.ready);
        }
        let bytes = bytes | copies.dirty;
        self.count_part(bytes);
        self.memory
            .write(core, t, LineAddr(line), bytes, Sent::Around)
    }

    /// Moves a line from the private levels of `core` to the nearest shared level.
    pub(super) fn push_to_shared(&mut self, core: u32, at: Time, line: u64) -> Time {
        let (mut dirty, mut found, mut t) = (0, false, at);
        if self.privates < self.levels.len() {
            for level in 0..self.privates {
                if let Some(place) = self.levels[level].find(core, line) {
                    found = true;
                    t = self.levels[level].ready(place, t);
                    let taken = self.levels[level].take(place).dirty;
                    self.left(level, core, line, taken, Left::Demoted, t);
                    self.count_joining(level..self.privates - 1, taken);
                    dirty |= taken;
                }
            }
        }
        if !found {
            self.counters.demotes_absent += 1;
            return at;
        }
        self.counters.demotes += 1;
        self.directory.remove(line, core);
        let mut tx = self.begin(core, at);
        tx.now = t + self.levels[self.privates].latency;
        self.put_in_shared(tx, line, dirty)
    }

    /// How long it takes to know what the caches have of a line: as long as a hit in the nearest
    /// level of the core that has it, a snoop where another core does, else as a miss of all levels.
    pub(super) fn look_up(&self, core: u32, at: Time, line: u64) -> Time {
        let others = self.directory.get(line).others(core);
        let here = self.levels.iter().find_map(|level| {
            let place = level.find(core, line)?;
            Some(level.ready(place, at + level.latency))
        });
        match here {
            Some(t) if others.exclusive => t.max(self.first_has_got(others, line, at) + self.snoop),
            Some(t) => t,
            None if others.cores != 0 => self.first_has_got(others, line, at) + self.snoop,
            None => at + self.last_latency,
        }
    }

    /// Cleans or removes all copies of a line; `why`, and when, for who watches.
    pub(super) fn collect(&mut self, line: u64, keep: Keep, why: (Left, Time)) -> Copies {
        let mut copies = Copies::default();
        let sharers = self.directory.get(line);
        for sharer in sharers.each() {
            for level in 0..self.privates {
                self.collect_one(
                    &mut copies,
                    (level, sharer),
                    line,
                    keep == Keep::InPlace,
                    why,
                );
            }
        }
        copies.private = copies.found;
        for level in self.privates..self.levels.len() {
            self.collect_one(&mut copies, (level, 0), line, keep != Keep::Nowhere, why);
        }
        if keep != Keep::InPlace && sharers.cores != 0 {
            self.directory.forget(line);
        }
        if keep == Keep::Nowhere
            && copies.found
            && let Some(grants) = &mut self.grants
        {
            grants.remove(line);
        }
        copies
    }

    pub(super) fn collect_one(
        &mut self,
        copies: &mut Copies,
        (number, core): (usize, u32),
        line: u64,
        keep: bool,
        (why, at): (Left, Time),
    ) {
        let level = &mut self.levels[number];
        let Some(place) = level.find(core, line) else {
            return;
        };
        let ready = level.ready(place, Time::ZERO);
        let dirty = if keep {
            level.clean(place)
        } else {
            level.take(place).dirty
        };
        if dirty != 0 {
            copies.ready = copies.ready.max(ready);
        }
        if dirty != 0 && (copies.dirty == 0 || number < copies.dirty_at) {
            copies.dirty_at = number;
        }
        copies.found = true;
        copies.dirty |= dirty;
        if dirty != 0 || !keep {
            self.left(number, core, line, dirty, why, at);
        }
    }
}
