//! Line fill buffers.

use std::collections::VecDeque;
use std::ops::Range;

use prestore_trace::LineAddr;

use crate::{Served, ServedBy, Time};

/// Until when an open write-combining buffer keeps its fill buffer.
const OPEN: Time = Time(u64::MAX);

/// What a fill buffer's line is doing; lines have fewer than 60 bits.
const FLUSHED: u64 = 1 << 63;
const COMBINED: u64 = 1 << 62;

/// Takers of buffers that are remembered.
const RECENT: usize = 16;

/// Data that has left its buffer and that memory has not taken.
#[derive(Clone, Copy, Debug)]
struct Posted {
    /// As in [`FillBuffers::key`].
    key: u64,
    until: Time,
}

/// The fill buffers of a core, and what flushes take where they take none of those. Each is busy until
/// a time: a miss until its data comes, a flush until it is taken, a write-combining buffer until it
/// has been sent and taken, both no longer than the machine says.
#[derive(Clone, Debug)]
pub(super) struct FillBuffers {
    /// The line, marked by what happens to it.
    key: Box<[u64]>,
    /// By a hash of the key, the buffers that have such a one, a bit each (and one bit for several, beyond 64): most
    /// look-ups find none, the others little else than what they look for.
    holders: Box<[u64; HASHES]>,
    until: Box<[Time]>,
    /// When the line of a request for ownership is granted.
    granted: Box<[Time]>,
    by: Box<[ServedBy]>,
    /// Buffers of misses; those behind are for flushes alone.
    misses: usize,
    /// No buffer but the open ones is busy from here on.
    last: Time,
    /// No flush is under way from here on.
    flushed: Time,
    /// No non-temporal data is under way from here on.
    combined: Time,
    /// How many are [`OPEN`].
    open: usize,
    /// When the first buffer of a miss is free.
    first: Time,
    /// The same, of those that flushes take.
    first_of_flushes: Time,
    /// How often a buffer was taken, and for what lines the last few times.
    takes: u64,
    recent: [u64; RECENT],
    /// Flushes and non-temporal data that left their buffers early, the older first.
    posted: VecDeque<Posted>,
}

/// A line on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fill {
    /// When it is there.
    pub until: Time,
    /// When it may be written.
    pub granted: Time,
    /// From where it comes.
    pub by: ServedBy,
}

impl FillBuffers {
    /// `misses` buffers, at least one, and `flushes` more; none: flushes take those of misses.
    pub fn new(misses: u32, flushes: Option<u32>) -> Self {
        let misses = misses.max(1) as usize;
        let n = misses + flushes.unwrap_or(0) as usize;
        Self {
            misses,
            key: vec![0; n].into(),
            holders: Box::new(holders(n)),
            until: vec![Time::ZERO; n].into(),
            granted: vec![Time::ZERO; n].into(),
            by: vec![ServedBy::Peer; n].into(),
            last: Time::ZERO,
            flushed: Time::ZERO,
            combined: Time::ZERO,
            open: 0,
            first: Time::ZERO,
            first_of_flushes: Time::ZERO,
            takes: 0,
            recent: [0; RECENT],
            posted: VecDeque::new(),
        }
    }

    /// When a buffer is free, from `at` on. Never, if all are open: their owner keeps one back.
    #[inline(always)]
    pub fn free_at(&self, at: Time) -> Time {
        if at >= self.last && self.open < self.misses {
            return at;
        }
        at.max(self.first)
    }

    /// The same, of a buffer for a flush.
    #[inline(always)]
    pub fn free_for_flush(&self, at: Time) -> Time {
        at.max(self.first_of_flushes)
    }

    /// How often a buffer was taken: what is known of a line stays true while that does.
    #[inline]
    pub fn takes(&self) -> u64 {
        self.takes
    }

    /// For what lines buffers were taken since there had been so many; none: too often to know.
    pub fn taken_since(&self, takes: u64) -> Option<impl Iterator<Item = LineAddr>> {
        let new = self.takes - takes;
        (new <= RECENT as u64)
            .then(|| (takes..self.takes).map(|n| LineAddr(self.recent[n as usize % RECENT])))
    }

    /// Buffer `i`, which was taken until `before`, is so until another time now: when the first are free.
    #[inline]
    fn look_for_first(&mut self, i: usize, before: Time) {
        let until = self.until[i];
        let for_all = self.misses == self.until.len();
        if i < self.misses {
            self.first = if before == self.first {
                self.earliest(0..self.misses)
            } else {
                self.first.min(until)
            };
            if for_all {
                self.first_of_flushes = self.first;
            }
        } else {
            self.first_of_flushes = self.earliest(self.misses..self.until.len());
        }
    }

    fn earliest(&self, buffers: Range<usize>) -> Time {
        let earliest = self.until[buffers].iter().min();
        earliest.copied().unwrap_or_default()
    }

    fn flushes(&self) -> Range<usize> {
        let first = if self.misses == self.until.len() {
            0
        } else {
            self.misses
        };
        first..self.until.len()
    }

    /// `line` if it is on its way at `at`.
    #[inline(always)]
    pub fn find(&self, line: LineAddr, at: Time) -> Option<Fill> {
        if at >= self.last {
            return None;
        }
        let i = self.position(line.0, at)?;
        Some(Fill {
            until: self.until[i],
            granted: self.granted[i].max(at),
            by: self.by[i],
        })
    }

    /// When the flush of `line` that is under way at `at` is taken.
    #[inline(always)]
    pub fn flush_until(&self, line: LineAddr, at: Time) -> Option<Time> {
        if at >= self.flushed {
            return None;
        }
        self.write_until(line.0 | FLUSHED, at)
    }

    /// When the non-temporal data of `line` that is under way at `at` is taken.
    #[inline(always)]
    pub fn combined_until(&self, line: LineAddr, at: Time) -> Option<Time> {
        if at >= self.combined {
            return None;
        }
        self.write_until(line.0 | COMBINED, at)
    }

    /// Is no non-temporal data under way from `at` on?
    #[inline]
    pub fn combined_until_at_most(&self, at: Time) -> bool {
        at >= self.combined
    }

    /// When a write that is under way at `at`, in a buffer or no longer, is taken; the last, if
    /// there are several.
    fn write_until(&self, key: u64, at: Time) -> Option<Time> {
        let here = self.position(key, at).map(|i| self.until[i]);
        let here = here.filter(|until| *until != OPEN);
        let posted = self.posted.iter();
        let posted = posted.filter(|posted| posted.key == key && posted.until > at);
        posted.map(|posted| posted.until).chain(here).max()
    }

    /// A write whose buffer is free at `free` is taken at `until`.
    fn post(&mut self, key: u64, at: Time, free: Time, until: Time) {
        self.last = self.last.max(until);
        if free == until {
            return;
        }
        while self.posted.front().is_some_and(|posted| posted.until <= at) {
            self.posted.pop_front();
        }
        self.posted.push_back(Posted { key, until });
    }

    /// The one of several (a line can be lost and fetched again) that ends last.
    #[inline(always)]
    fn position(&self, key: u64, at: Time) -> Option<usize> {
        let mut rest = self.holders[hash(key)];
        let (mut found, mut last) = (None, Time::ZERO);
        while rest != 0 {
            let mut i = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            while i < self.key.len() {
                let until = self.until[i];
                if self.key[i] == key && until > at && (until, Some(i)) > (last, found) {
                    (found, last) = (Some(i), until);
                }
                i += BITS;
            }
        }
        found
    }

    /// A miss takes a buffer that is free at `at`.
    pub fn take(&mut self, line: LineAddr, at: Time, served: Served) {
        let i = self.occupy(0..self.misses, line.0, at, served.done, served.by);
        self.granted[i] = served.granted;
        self.last = self.last.max(served.done);
    }

    /// A flush that is taken at `until` takes a buffer that is free at `at`, for `hold` at most.
    pub fn take_flush(&mut self, line: LineAddr, at: Time, until: Time, hold: Option<Time>) {
        let (buffers, key) = (self.flushes(), line.0 | FLUSHED);
        let free = free_at_last(at, until, hold);
        self.occupy(buffers, key, at, free, ServedBy::Peer);
        self.post(key, at, free, until);
        self.flushed = self.flushed.max(until);
    }

    /// A demotion takes a buffer that is free at `at`, until `until`. Nobody waits for it.
    pub fn take_demotion(&mut self, line: LineAddr, at: Time, until: Time) {
        let key = line.0 | FLUSHED | COMBINED;
        self.occupy(self.flushes(), key, at, until, ServedBy::Peer);
        self.last = self.last.max(until);
    }

    /// A write-combining buffer takes one that is free at `at`. Answers which.
    pub fn open(&mut self, line: LineAddr, at: Time) -> usize {
        self.open += 1;
        let buffers = 0..self.misses;
        self.occupy(buffers, line.0 | COMBINED, at, OPEN, ServedBy::Peer)
    }

    /// The data of write-combining buffer `which` goes at `at` and is taken at `until`; the buffer is
    /// taken for `hold` more at most. Answers until when.
    pub fn close(&mut self, which: usize, at: Time, until: Time, hold: Option<Time>) -> Time {
        let free = free_at_last(at, until, hold);
        self.open -= 1;
        let before = std::mem::replace(&mut self.until[which], free);
        self.look_for_first(which, before);
        self.post(self.key[which], at, free, until);
        self.combined = self.combined.max(until);
        free
    }

    fn occupy(
        &mut self,
        buffers: Range<usize>,
        key: u64,
        at: Time,
        until: Time,
        by: ServedBy,
    ) -> usize {
        let free = self.until[buffers.clone()].iter().position(|&u| u <= at);
        debug_assert!(
            free.is_some(),
            "a fill buffer is waited for before it is taken"
        );
        let i = buffers.start + free.unwrap_or(0);
        self.hold(i, key);
        let before = std::mem::replace(&mut self.until[i], until);
        self.by[i] = by;
        self.look_for_first(i, before);
        self.recent[self.takes as usize % RECENT] = key & !(FLUSHED | COMBINED);
        self.takes += 1;
        i
    }

    /// Buffer `i` has `key` from now on.
    #[inline]
    fn hold(&mut self, i: usize, key: u64) {
        let before = std::mem::replace(&mut self.key[i], key);
        let (before, now) = (hash(before), hash(key));
        let sharing = (i % BITS..self.key.len()).step_by(BITS);
        if sharing
            .into_iter()
            .all(|other| hash(self.key[other]) != before)
        {
            self.holders[before] &= !(1 << (i % BITS));
        }
        self.holders[now] |= 1 << (i % BITS);
    }
}

/// Bits of a word of [`FillBuffers::holders`].
const BITS: usize = u64::BITS as usize;
/// Keys are told apart by as many hashes.
const HASHES: usize = 64;

/// Which of [`HASHES`] a key has.
#[inline(always)]
fn hash(key: u64) -> usize {
    // Neighbouring lines differ, and what happens to a line turns it by half.
    ((key ^ (key >> 58)) & 63) as usize
}

/// Those of `n` buffers that have not been taken: their keys are 0.
fn holders(n: usize) -> [u64; HASHES] {
    let mut holders = [0; HASHES];
    holders[hash(0)] = if n < BITS { (1 << n) - 1 } else { u64::MAX };
    holders
}

/// When a buffer is free whose data goes at `at` and is taken at `until`.
pub(super) fn free_at_last(at: Time, until: Time, hold: Option<Time>) -> Time {
    hold.map_or(until, |hold| until.min(at + hold))
}

#[cfg(test)]
mod tests {
    use prestore_trace::LineAddr;

    use super::FillBuffers;
    use crate::random::Random;
    use crate::{Served, ServedBy, Time};

    #[test]
    fn the_buffer_of_a_line_is_the_one_that_ends_last() {
        for buffers in [1, 12, 64, 150] {
            let mut random = Random::new(u64::from(buffers));
            let mut fills = FillBuffers::new(buffers, None);
            let mut at = Time(1);
            for _ in 0..20_000 {
                at = fills.free_at(Time(at.0 + random.below(4)));
                let line = LineAddr(random.below(200));
                let served = Served {
                    done: Time(at.0 + 1 + random.below(300)),
                    granted: at,
                    by: ServedBy::Peer,
                };
                fills.take(line, at, served);
                let asked = LineAddr(random.below(200));
                let until = fills.key.iter().zip(&fills.until);
                let until = until.filter(|(key, until)| **key == asked.0 && **until > at);
                let last = until.map(|(_, until)| *until).max();
                assert_eq!(fills.find(asked, at).map(|fill| fill.until), last);
            }
        }
    }
}
