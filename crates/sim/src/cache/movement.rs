//! Lines on the move: fills, victims, and what inclusion and coherence take with them.

use std::ops::Range;

use prestore_machine::Inclusion;
use prestore_trace::LineAddr;

use super::copy::EXCLUSIVE;
use super::directory::Sharers;
use super::grants::Grants;
use super::hierarchy::Hierarchy;
use super::leaver::Leaver;
use super::level::{Place, Taken};
use super::transaction::Transaction;
use crate::doors::{Left, Probe};
use crate::{ByteMask, MemoryPort, Sent, Time};

/// A line that comes to a core from beyond its private levels.
pub(super) struct Bring {
    /// The nearest level that is filled.
    pub(super) start: usize,
    /// Levels nearer than this one are filled.
    pub(super) from: usize,
    /// Its copy in level `from`.
    pub(super) place: Option<Place>,
    /// Dirty bytes that come with it.
    pub(super) dirty: ByteMask,
    /// To be written.
    pub(super) own: bool,
    /// Who else had it before.
    pub(super) others: Sharers,
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// Changes all states as `line` comes to `core`, and fills. Answers the place in level `start`.
    pub(super) fn bring(&mut self, tx: &mut Transaction, line: u64, what: Bring) -> Option<Place> {
        let core = tx.core;
        let Bring {
            start,
            from,
            place,
            mut dirty,
            own,
            others,
        } = what;
        let alone = own
            || (self.writes_at < self.privates && others.cores == 0 && self.is_granted(line, core));
        // Where no level is private, nobody else wants to keep it there.
        if let Some(place) = place
            && from > start
            && (alone || self.privates == 0)
            && self.levels[from].inclusion == Inclusion::Exclusive
        {
            dirty |= self.levels[from].take(place).dirty;
        }
        if !own {
            self.share(tx, line, others);
        }
        if start < self.privates
            && let Some((gone, sharers)) = self.directory.add(line, core, alone)
        {
            self.filter_evict(tx, gone, sharers);
        }
        let filled = self.fill(tx, line, (start, from), dirty, alone);
        if own && start < self.privates {
            self.make_exclusive(core, line, start);
        }
        filled
    }

    /// Copies of `core` nearer than `end` are exclusive from now on.
    pub(super) fn make_exclusive(&mut self, core: u32, line: u64, end: usize) {
        for level in 0..self.privates.min(end) {
            if let Some(place) = self.levels[level].find(core, line) {
                self.levels[level].set_exclusive(place);
            }
        }
    }

    /// Puts a line that comes from level `from` into the nearer ones down to `start`, farthest
    /// first. `dirty` bytes go to the farthest that may hold them. Answers the place in level `start`.
    pub(super) fn fill(
        &mut self,
        tx: &mut Transaction,
        line: u64,
        (start, from): (usize, usize),
        mut dirty: ByteMask,
        alone: bool,
    ) -> Option<Place> {
        let mut nearest = None;
        for level in (start..from).rev() {
            if level != start && !self.fills_on_miss(level) {
                continue;
            }
            let here = if self.levels[level].through {
                0
            } else {
                std::mem::take(&mut dirty)
            };
            let first = self.levels[level].first(tx.core, line);
            let place = self.insert(tx, (level, first), line, here, alone);
            self.levels[level].arrives(place, tx.now);
            nearest = Some(place);
        }
        nearest
    }

    /// Puts a line into a level, where its set begins at place `first`; a victim goes first.
    fn insert(
        &mut self,
        tx: &mut Transaction,
        (level, first): (usize, usize),
        line: u64,
        dirty: ByteMask,
        alone: bool,
    ) -> Place {
        let core = tx.core;
        let (place, occupied) = self.levels[level].make_room(core, first);
        if occupied {
            self.evict(tx, level, place);
        }
        let flags = if alone && level < self.privates {
            EXCLUSIVE
        } else {
            0
        };
        self.levels[level].put(core, place, line, flags, dirty);
        self.counters.levels[level].fills += 1;
        place
    }

    /// Removes a victim and passes it on.
    fn evict(&mut self, tx: &mut Transaction, level: usize, place: Place) {
        let core = tx.core;
        let victim = self.levels[level].take(place);
        let line = victim.line;
        self.left(level, core, line, victim.dirty, Left::Evicted, tx.now);
        let mut leaver = Leaver {
            line,
            dirty: victim.dirty,
            flags: if victim.exclusive { EXCLUSIVE } else { 0 },
            ready: victim.ready,
        };
        if level > 0 && self.levels[level].inclusion == Inclusion::Inclusive {
            self.purge_nearer(tx, level, &mut leaver);
        }
        let counters = &mut self.counters.levels[level];
        if leaver.dirty == 0 {
            counters.clean_evictions += 1;
        } else {
            counters.dirty_evictions += 1;
        }
        let next = level + 1;
        let stays = self.deposit(tx, next, leaver, false) && next < self.privates;
        if level < self.privates && !stays {
            tx.left_private.push((level, core, line));
        }
        self.leaves(line);
    }

    /// A line (a victim, or written back) arrives at `level` from nearer. Clean lines are dropped
    /// where victims are not taken, unless `always`. Answers whether the line is known to be there now.
    pub(super) fn deposit(
        &mut self,
        tx: &mut Transaction,
        level: usize,
        leaver: Leaver,
        always: bool,
    ) -> bool {
        let core = tx.core;
        let Leaver {
            line,
            dirty,
            flags,
            ready,
        } = leaver;
        if level == self.levels.len() {
            if dirty != 0 {
                self.count_down(level - 1, dirty);
                self.write_victim(tx, leaver);
            }
            return false;
        }
        let keeps = always || self.takes_victims(level);
        if dirty == 0 && !keeps {
            return false;
        }
        let through = self.levels[level].through;
        let first = self.levels[level].first(core, line);
        let place = self.levels[level].find_from(first, line);
        if dirty == 0 && place.is_some() {
            return true;
        }
        if level > 0 {
            self.count_down(level - 1, dirty);
        }
        tx.private_victims |= level < self.privates;
        let put = match place {
            Some(place) if through => {
                self.levels[level].touch(place);
                None
            }
            Some(place) => {
                self.levels[level].write(place, dirty);
                Some(place)
            }
            None if through && !keeps => None,
            None => {
                let here = if through { 0 } else { dirty };
                Some(self.insert(tx, (level, first), line, here, flags != 0))
            }
        };
        if let Some(place) = put
            && ready > tx.asked
        {
            self.levels[level].delay(place, ready);
        }
        if through && dirty != 0 {
            self.deposit(tx, level + 1, leaver, false);
        }
        place.is_some() || keeps || !through
    }

    /// Writes a victim to memory through the core's eviction buffer: what goes on waits while that
    /// is full.
    fn write_victim(&mut self, tx: &mut Transaction, leaver: Leaver) {
        let core = tx.core;
        let buffer = &mut self.evictions[core as usize];
        tx.now = buffer.free(tx.now);
        let at = tx.now.max(leaver.ready);
        let line = LineAddr(leaver.line);
        let taken = (self.memory).write(core, at, line, leaver.dirty, Sent::Evicted);
        buffer.take(taken);
    }

    /// Removes a line that leaves an inclusive level from the levels before it: what they have of it
    /// leaves with it.
    fn purge_nearer(&mut self, tx: &Transaction, level: usize, leaver: &mut Leaver) {
        if level < self.privates {
            return self.purge(0..level, level, (tx.core, tx.now), leaver);
        }
        let sharers = self.directory.get(leaver.line);
        if sharers.cores != 0 {
            for sharer in sharers.each() {
                self.purge(0..self.privates, level, (sharer, tx.now), leaver);
            }
            self.directory.forget(leaver.line);
        }
        self.purge(self.privates..level, level, (tx.core, tx.now), leaver);
    }

    fn purge(
        &mut self,
        levels: Range<usize>,
        evicting: usize,
        (core, at): (u32, Time),
        leaver: &mut Leaver,
    ) {
        for level in levels {
            if let Some(place) = self.levels[level].find(core, leaver.line) {
                let Taken { dirty, ready, .. } = self.levels[level].take(place);
                self.counters.levels[level].back_invalidations += 1;
                let why = Left::BackInvalidated;
                self.left(level, core, leaver.line, dirty, why, at);
                self.count_joining(level..evicting, dirty);
                leaver.dirty |= dirty;
                leaver.ready = leaver.ready.max(ready);
            }
        }
    }

    /// The snoop filter gave up an entry: its line leaves the private levels as the victim of the
    /// last of them would.
    pub(super) fn filter_evict(&mut self, tx: &mut Transaction, line: u64, sharers: Sharers) {
        self.counters.coherence.filter_evictions += 1;
        let mut leaver = Leaver::at_hand(line, 0);
        for sharer in sharers.each() {
            self.purge(
                0..self.privates,
                self.privates - 1,
                (sharer, tx.now),
                &mut leaver,
            );
        }
        self.deposit(tx, self.privates, leaver, false);
        self.leaves(line);
    }

    /// Is `line` in one of these levels, for `core`?
    #[inline]
    fn any_has(&self, levels: Range<usize>, core: u32, line: u64) -> bool {
        let levels = &self.levels[levels];
        levels.iter().any(|level| level.find(core, line).is_some())
    }

    /// A line left a cache, perhaps the last that had it.
    fn leaves(&mut self, line: u64) {
        if let Some(grants) = &mut self.grants {
            grants.leaving(line);
        }
    }

    /// At the end of an operation, when no line is on its way from level to level: the directories
    /// forget what left.
    #[inline]
    pub(super) fn tidy(&mut self, tx: &mut Transaction) {
        while let Some((level, core, line)) = tx.left_private.pop() {
            // It is back where it was only if a nearer level's victim.
            let nearer = level + usize::from(tx.private_victims);
            if !self.any_has(level + 1..self.privates, core, line)
                && !self.any_has(0..nearer, core, line)
            {
                self.directory.remove(line, core);
            }
        }
        while let Some(line) = self.grants.as_mut().and_then(Grants::left) {
            let held = self.directory.get(line).cores != 0
                || self.any_has(self.privates..self.levels.len(), 0, line);
            if !held && let Some(grants) = &mut self.grants {
                grants.remove(line);
            }
        }
    }

    /// A line went up from level `from` to level `start`.
    pub(super) fn count_up(&mut self, start: usize, from: usize) {
        for boundary in &mut self.counters.boundaries[start..from] {
            boundary.up_lines += 1;
        }
    }

    /// Dirty bytes of a copy join those that leave a farther level, across `boundaries`.
    pub(super) fn count_joining(&mut self, boundaries: Range<usize>, dirty: ByteMask) {
        if dirty != 0 {
            for boundary in boundaries {
                self.count_down(boundary, dirty);
            }
        }
    }

    /// Dirty bytes of a line (none: a clean line) went down from `level` to the next.
    pub(super) fn count_down(&mut self, level: usize, dirty: ByteMask) {
        let boundary = &mut self.counters.boundaries[level];
        boundary.down_lines += 1;
        boundary.down_bytes += u64::from(dirty.count_ones());
    }

    /// Bytes of a line went to memory without the rest of it.
    pub(super) fn count_part(&mut self, bytes: ByteMask) {
        let last = self.levels.len() - 1;
        self.count_down(last, bytes);
        let boundary = &mut self.counters.boundaries[last];
        boundary.part_lines += 1;
        boundary.part_bytes += u64::from(bytes.count_ones());
    }
}
