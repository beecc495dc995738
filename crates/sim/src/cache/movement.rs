//! Lines on the move: fills, victims, and what inclusion and coherence take with them.

use prestore_machine::Inclusion;
use prestore_trace::LineAddr;

use super::copy::EXCLUSIVE;
use super::directory::Sharers;
use super::grants::Grants;
use super::hierarchy::Hierarchy;
use super::level::Place;
use crate::{ByteMask, MemoryPort};

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

impl<M: MemoryPort> Hierarchy<M> {
    /// Changes all states as `line` comes to `core`, and fills. Answers the place in level `start`.
    pub(super) fn bring(&mut self, core: u32, line: u64, what: Bring) -> Option<Place> {
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
        if let Some(place) = place
            && from > start
            && alone
            && self.levels[from].inclusion == Inclusion::Exclusive
        {
            dirty |= self.levels[from].take(place).dirty;
        }
        if !own {
            self.share(core, line, others);
        }
        if start < self.privates
            && let Some((gone, sharers)) = self.directory.add(line, core, alone)
        {
            self.filter_evict(core, gone, sharers);
        }
        let filled = self.fill(core, line, start, from, dirty, alone);
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
        core: u32,
        line: u64,
        start: usize,
        from: usize,
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
            let first = self.levels[level].first(core, line);
            let place = self.insert(level, first, core, line, here, alone);
            self.levels[level].arrives(place, self.now);
            nearest = Some(place);
        }
        nearest
    }

    /// Puts a line into a level, where its set begins at place `first`; a victim goes first.
    fn insert(
        &mut self,
        level: usize,
        first: usize,
        core: u32,
        line: u64,
        dirty: ByteMask,
        alone: bool,
    ) -> Place {
        let (place, occupied) = self.levels[level].make_room(core, first);
        if occupied {
            self.evict(level, core, place);
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
    fn evict(&mut self, level: usize, core: u32, place: Place) {
        let victim = self.levels[level].take(place);
        let (line, mut dirty) = (victim.line, victim.dirty);
        if level > 0 && self.levels[level].inclusion == Inclusion::Inclusive {
            dirty |= self.purge_nearer(level, core, line);
        }
        let counters = &mut self.counters.levels[level];
        if dirty == 0 {
            counters.clean_evictions += 1;
        } else {
            counters.dirty_evictions += 1;
        }
        let flags = if victim.exclusive { EXCLUSIVE } else { 0 };
        let next = level + 1;
        let stays = self.deposit(next, core, line, dirty, flags, false) && next < self.privates;
        if level < self.privates && !stays {
            self.left_private.push((level, core, line));
        }
        self.leaves(line);
    }

    /// A line (a victim, or written back) arrives at `level` from nearer. Clean lines are dropped
    /// where victims are not taken, unless `always`. Answers whether the line is known to be there now.
    pub(super) fn deposit(
        &mut self,
        level: usize,
        core: u32,
        line: u64,
        dirty: ByteMask,
        flags: u64,
        always: bool,
    ) -> bool {
        if level == self.levels.len() {
            if dirty != 0 {
                self.count_down(level - 1, dirty);
                self.write_victim(core, line, dirty);
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
        self.private_victims |= level < self.privates;
        match place {
            Some(place) if through => self.levels[level].touch(place),
            Some(place) => self.levels[level].write(place, dirty),
            None if through => {
                if keeps {
                    self.insert(level, first, core, line, 0, flags != 0);
                }
            }
            None => {
                self.insert(level, first, core, line, dirty, flags != 0);
            }
        }
        if through && dirty != 0 {
            self.deposit(level + 1, core, line, dirty, flags, false);
        }
        place.is_some() || keeps || !through
    }

    /// Writes a victim to memory through the core's eviction buffer: what goes on waits while that
    /// is full.
    fn write_victim(&mut self, core: u32, line: u64, dirty: ByteMask) {
        let buffer = &mut self.evictions[core as usize];
        self.now = buffer.free(self.now);
        let taken = self.memory.write(core, self.now, LineAddr(line), dirty);
        buffer.take(taken);
    }

    /// Removes a line that leaves an inclusive level from the levels before it; answers its dirty
    /// bytes there.
    fn purge_nearer(&mut self, level: usize, core: u32, line: u64) -> ByteMask {
        let mut dirty = 0;
        if level < self.privates {
            return self.purge(0..level, level, core, line);
        }
        let sharers = self.directory.get(line);
        if sharers.cores != 0 {
            for sharer in sharers.each() {
                dirty |= self.purge(0..self.privates, level, sharer, line);
            }
            self.directory.forget(line);
        }
        dirty | self.purge(self.privates..level, level, core, line)
    }

    fn purge(
        &mut self,
        levels: std::ops::Range<usize>,
        evicting: usize,
        core: u32,
        line: u64,
    ) -> ByteMask {
        let mut all = 0;
        for level in levels {
            if let Some(place) = self.levels[level].find(core, line) {
                let dirty = self.levels[level].take(place).dirty;
                self.counters.levels[level].back_invalidations += 1;
                if dirty != 0 {
                    for boundary in level..evicting {
                        self.count_down(boundary, dirty);
                    }
                }
                all |= dirty;
            }
        }
        all
    }

    /// The snoop filter gave up an entry: its line leaves the private levels as the victim of the
    /// last of them would.
    pub(super) fn filter_evict(&mut self, core: u32, line: u64, sharers: Sharers) {
        self.counters.filter_evictions += 1;
        let mut dirty = 0;
        for sharer in sharers.each() {
            dirty |= self.purge(0..self.privates, self.privates - 1, sharer, line);
        }
        self.deposit(self.privates, core, line, dirty, 0, false);
        self.leaves(line);
    }

    /// Takes `line` from all private levels of `others`; answers its dirty bytes.
    pub(super) fn invalidate(&mut self, line: u64, others: Sharers) -> ByteMask {
        let mut dirty = 0;
        for other in others.each() {
            for level in 0..self.privates {
                if let Some(place) = self.levels[level].find(other, line) {
                    dirty |= self.levels[level].take(place).dirty;
                }
            }
            self.directory.remove(line, other);
        }
        dirty
    }

    /// `core` will read `line`: another core that had it for its own shares it from now on, its
    /// dirty bytes go to the nearest shared level (or memory).
    pub(super) fn share(&mut self, core: u32, line: u64, others: Sharers) {
        if let Some(grants) = &mut self.grants
            && !grants.is_core(line, core)
        {
            grants.remove(line);
        }
        if !others.exclusive {
            return;
        }
        let mut dirty = 0;
        for owner in others.each() {
            for level in 0..self.privates {
                if let Some(place) = self.levels[level].find(owner, line) {
                    dirty |= self.levels[level].downgrade(place);
                }
            }
        }
        self.directory.downgrade(line);
        if dirty != 0 {
            self.deposit(self.privates, core, line, dirty, 0, false);
        }
    }

    /// Is `line` in one of these levels, for `core`?
    #[inline]
    fn any_has(&self, levels: std::ops::Range<usize>, core: u32, line: u64) -> bool {
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
    pub(super) fn tidy(&mut self) {
        while let Some((level, core, line)) = self.left_private.pop() {
            // It is back where it was only if a nearer level's victim.
            let nearer = level + usize::from(self.private_victims);
            if !self.any_has(level + 1..self.privates, core, line)
                && !self.any_has(0..nearer, core, line)
            {
                self.directory.remove(line, core);
            }
        }
        self.private_victims = false;
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

    /// Dirty bytes of a line (none: a clean line) went down from `level` to the next.
    pub(super) fn count_down(&mut self, level: usize, dirty: ByteMask) {
        let boundary = &mut self.counters.boundaries[level];
        boundary.down_lines += 1;
        boundary.down_bytes += u64::from(dirty.count_ones());
    }
}
