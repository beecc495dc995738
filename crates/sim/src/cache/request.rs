//! A read or a request for ownership: where the line is found, what that costs, what it changes.

use prestore_machine::Inclusion;
use prestore_trace::LineAddr;

use super::directory::Sharers;
use super::hierarchy::Hierarchy;
use super::level::Place;
use super::movement::Bring;
use super::transaction::Transaction;
use crate::doors::Probe;
use crate::{ByteMask, MemoryPort, Served, ServedBy, Time};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// To read.
    Read,
    /// To write: other copies go. `whole`: all bytes will be written.
    Own { whole: bool },
}

/// Where a line was found beyond the core's private levels.
struct Found {
    /// When its data is at the core.
    done: Time,
    /// When the directory has been asked, and memory is.
    asked: Time,
    by: ServedBy,
    /// Levels nearer than this one are filled.
    from: usize,
    /// Levels nearer than this one were looked at in vain.
    missed: usize,
    /// Its copy in a shared level.
    place: Option<Place>,
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    #[inline(never)]
    pub(super) fn request(&mut self, core: u32, at: Time, line: u64, want: Want) -> Served {
        let start = match want {
            Want::Read => 0,
            Want::Own { .. } => self.writes_at,
        };
        let mut tx = self.begin(core, at);
        let mut from = at;
        for level in start..self.privates {
            if let Some(place) = self.levels[level].find(core, line) {
                self.private_hit(&mut tx, from, line, want, (start, level, place));
                let prefetched = tx.prefetch_hit;
                let done = self.end(tx);
                self.train(core, at, line, (level > start, prefetched), level);
                return Served {
                    done,
                    granted: done,
                    by: ServedBy::Cache(level as u8),
                };
            }
            from = self.missed(level, core, from, want);
        }
        let (by, level, granted) = self.shared_request(&mut tx, from, line, want, start);
        let prefetched = tx.prefetch_hit;
        let done = self.end(tx);
        // Prefetchers follow what is read, wherever it came from.
        let is_read = level < self.levels.len() || by == ServedBy::Peer;
        if is_read || want != (Want::Own { whole: true }) {
            self.train(core, at, line, (level > start, prefetched), level);
        }
        Served { done, granted, by }
    }

    /// The line is in a private level of the core.
    fn private_hit(
        &mut self,
        tx: &mut Transaction,
        at: Time,
        line: u64,
        want: Want,
        (start, level, place): (usize, usize, Place),
    ) {
        let core = tx.core;
        self.count_hit(level, want);
        let mut done = self.use_copy(tx, level, place, at);
        let mut exclusive = self.levels[level].is_exclusive(place);
        if want != Want::Read && !exclusive {
            done = done.max(self.upgrade(core, at, line));
            exclusive = true;
        }
        tx.now = done;
        if level > start {
            let moves = self.levels[level].inclusion == Inclusion::Exclusive;
            let dirty = if moves {
                self.levels[level].take(place).dirty
            } else {
                0
            };
            self.count_up(start, level);
            self.fill(tx, line, (start, level), dirty, exclusive);
        }
        self.end_misses(start, level, tx);
    }

    /// A core that can read `line` gains the permission to write it; answers when.
    fn upgrade(&mut self, core: u32, at: Time, line: u64) -> Time {
        self.counters.coherence.upgrades += 1;
        let others = self.directory.get(line).others(core);
        let agreed = if others.cores != 0 {
            self.counters.coherence.snoops += 1;
            let given_up = self.all_have_got(others, line, at) + self.snoop;
            self.invalidate(line, others, (core, given_up));
            given_up
        } else {
            at + self.directory_latency
        };
        self.make_exclusive(core, line, self.privates);
        // Its entry is there, so that no other has to go.
        self.directory.add(line, core, true);
        agreed.max(self.ask_device(core, at + self.last_latency, line))
    }

    /// The line is in no private level (that may answer) of the core. Answers also which level it
    /// came from.
    fn shared_request(
        &mut self,
        tx: &mut Transaction,
        at: Time,
        line: u64,
        want: Want,
        start: usize,
    ) -> (ServedBy, usize, Time) {
        let core = tx.core;
        self.victim_soon(core, line);
        let own = want != Want::Read;
        let others = self.directory.get(line).others(core);
        let mut t = at;
        let found = self.locate(tx, &mut t, line, want, (start, others));
        let mut done = found.done;
        // Where the directory is on the chip, it knows before memory has answered.
        let mut granted = match found.by {
            ServedBy::Memory(_) if self.grants.is_none() => found.asked,
            _ => done,
        };
        let mut dirty = 0;
        if own {
            if others.cores != 0 {
                let given_up = self.all_have_got(others, line, t) + self.snoop;
                (done, granted) = (done.max(given_up), granted.max(given_up));
            }
            dirty = self.invalidate(line, others, (core, done));
            let asked = match found.by {
                ServedBy::Memory(_) => done,
                _ => t + self.last_latency,
            };
            let agreed = self.ask_device(core, asked, line);
            (done, granted) = (done.max(agreed), granted.max(agreed));
        }
        if others.cores != 0 && (own || others.exclusive || found.by == ServedBy::Peer) {
            self.counters.coherence.snoops += 1;
        }
        tx.now = done;
        self.bring(
            tx,
            line,
            Bring {
                start,
                from: found.from,
                place: found.place,
                dirty,
                own,
                others,
            },
        );
        self.end_misses(start, found.missed, tx);
        (found.by, found.from, granted)
    }

    /// Looks for a line in the shared levels, in other cores and in memory; `at` moves on by waits
    /// for miss slots.
    fn locate(
        &mut self,
        tx: &mut Transaction,
        at: &mut Time,
        line: u64,
        want: Want,
        (start, others): (usize, Sharers),
    ) -> Found {
        let core = tx.core;
        let last = self.levels.len();
        let peer = self.privates.max(start + 1);
        if !others.exclusive {
            for level in self.privates.max(start)..last {
                if let Some(place) = self.levels[level].find(core, line) {
                    self.count_hit(level, want);
                    self.count_up(start, level);
                    return Found {
                        done: self.use_copy(tx, level, place, *at),
                        asked: *at,
                        by: ServedBy::Cache(level as u8),
                        from: level,
                        missed: level,
                        place: Some(place),
                    };
                }
                *at = self.missed(level, core, *at, want);
            }
        }
        let asked = *at + self.last_latency;
        let (done, by, from, missed) = if others.cores != 0 {
            self.counters.coherence.peer_lines += 1;
            let missed = if others.exclusive { peer } else { last };
            let got = self.first_has_got(others, line, *at);
            (got + self.snoop, ServedBy::Peer, peer, missed)
        } else {
            if want == (Want::Own { whole: true }) {
                // Nothing is read: the last level makes room.
                return Found {
                    done: asked,
                    asked,
                    by: ServedBy::Cache(last as u8 - 1),
                    from: last,
                    missed: last,
                    place: None,
                };
            }
            self.counters.coherence.ownership_reads += u64::from(want != Want::Read);
            let (done, memory) = self.memory.read(core, asked, LineAddr(line));
            (done, ServedBy::Memory(memory), last, last)
        };
        self.count_up(start, from);
        Found {
            done,
            asked,
            by,
            from,
            missed,
            place: None,
        }
    }

    /// The device's directory, if there is one and it does not say so yet, notes that `line` is
    /// `core`'s own; answers when it has agreed.
    fn ask_device(&mut self, core: u32, at: Time, line: u64) -> Time {
        let Some(grants) = &mut self.grants else {
            return Time::ZERO;
        };
        if grants.give(line, core) {
            return Time::ZERO;
        }
        self.counters.coherence.device_upgrades += 1;
        self.memory.upgrade(core, at, LineAddr(line))
    }

    /// A write: owned lines take it where writes end, others are taken back first.
    #[inline(never)]
    pub(super) fn write_beyond(&mut self, core: u32, at: Time, line: u64, bytes: ByteMask) -> Time {
        self.counters.writes += 1;
        let mut at = at;
        if !crate::Below::owned(self, core, LineAddr(line)) {
            let owned = self.request(core, at, line, Want::Own { whole: false });
            at = self.written_at(owned);
        }
        for level in 0..self.writes_at {
            if let Some(place) = self.levels[level].find(core, line) {
                self.levels[level].touch(place);
            }
            self.count_down(level, bytes);
        }
        let level = self.writes_at;
        if let Some(place) = self.levels[level].find(core, line) {
            self.levels[level].write(place, bytes);
            return self.written(level, place, at);
        }
        // A prefetch has evicted the line already.
        self.around(core, at, line, bytes)
    }

    /// When a write to a line that was just taken back can be done.
    fn written_at(&self, owned: Served) -> Time {
        if self.merges_into_fills {
            owned.granted
        } else {
            owned.done
        }
    }

    /// When a write at `at` to a copy that its core owns is done.
    #[inline(always)]
    pub(super) fn written(&self, level: usize, place: Place, at: Time) -> Time {
        if self.merges_into_fills {
            at
        } else {
            self.levels[level].ready(place, at)
        }
    }

    /// A use of a copy, and of a prefetched line for the first time.
    fn use_copy(&mut self, tx: &mut Transaction, level: usize, place: Place, at: Time) -> Time {
        let (done, prefetched) = self.levels[level].hit(place, at);
        tx.prefetch_hit |= prefetched;
        done
    }

    fn count_hit(&mut self, level: usize, want: Want) {
        let counters = &mut self.counters.levels[level];
        match want {
            Want::Read => counters.load_hits += 1,
            Want::Own { .. } => counters.own_hits += 1,
        }
    }

    /// A miss at `level`: waits for a slot.
    #[inline]
    fn missed(&mut self, level: usize, core: u32, at: Time, want: Want) -> Time {
        let counters = &mut self.counters.levels[level];
        match want {
            Want::Read => counters.load_misses += 1,
            Want::Own { .. } => counters.own_misses += 1,
        }
        self.levels[level].miss_from(core, at)
    }

    /// The misses of levels `start` to before `end` are over.
    fn end_misses(&mut self, start: usize, end: usize, tx: &Transaction) {
        for level in start..end {
            self.levels[level].miss_until(tx.core, tx.now);
        }
    }
}
