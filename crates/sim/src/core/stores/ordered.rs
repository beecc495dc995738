//! TSO: a store buffer that drains in program order.

use std::collections::VecDeque;

use prestore_machine::StoreBuffer as Described;
use prestore_trace::{FlushKind, LineAddr};

use super::{Pending, Run, Way};
use crate::core::env::Env;
use crate::core::filter::Filter;
use crate::core::flushes::{Flushes, StoreNumber, flush, flush_start};
use crate::core::params::Params;
use crate::{Asks, Below, ByteMask, Time};

/// When something will be known only after something else.
const UNKNOWN: Time = Time(u64::MAX);

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: LineAddr,
    /// None of a `clflush`.
    bytes: ByteMask,
    /// When it retired.
    ready: Time,
    /// When it may ask for its line: it retired, and is one of the oldest.
    ask: Time,
    /// When the line is owned, so that it may leave.
    owned: Time,
    /// A `clflush` keeps its place among the stores.
    clflush: Option<FlushKind>,
    /// An atomic among the stores: it reads, too, so it waits for data, and nothing is forwarded from it.
    atomic: bool,
    /// Where it goes.
    way: Way,
}

impl Entry {
    /// A store that has not asked for its line.
    #[inline(always)]
    fn of(line: LineAddr, bytes: ByteMask, ready: Time) -> Self {
        Self {
            line,
            bytes,
            ready,
            ask: UNKNOWN,
            owned: UNKNOWN,
            clflush: None,
            atomic: false,
            way: Way::Cached,
        }
    }
}

/// How [`StoreBuffer::ask`] ended.
enum Ask {
    /// The store has asked.
    Done,
    /// It can at this time.
    At(Time),
    /// That depends on older stores, or there is none.
    Blocked,
}

/// Stores leave in order, so many a cycle, each when its line is owned. The oldest few may ask for
/// their lines ahead of their turn, so many lines at once.
#[derive(Clone, Debug)]
pub(in crate::core) struct StoreBuffer {
    ring: Box<[Entry]>,
    capacity: u64,
    ahead: u64,
    /// Until when lines that were asked for are under way, as many as may be at once; none: no limit.
    lines: Box<[Time]>,
    /// When another line may be under way.
    line_free: Time,
    /// The next store to ask waits for that: it does not look for its line before.
    waits: bool,
    /// Numbers of the oldest entry, the first that has not asked, the next to come.
    head: u64,
    asked: u64,
    tail: u64,
    /// Entries of a `clflush`.
    clflushes: u64,
    /// When atomics that have drained, and were not asked for since, were done.
    atomics_done: VecDeque<Time>,
    /// When the youngest drained store reached the cache, and when the next may.
    reached: Time,
    next: Time,
    /// When all drained stores are done.
    pub visible: Time,
    pub filter: Filter,
}

impl StoreBuffer {
    pub fn new(described: &Described) -> Self {
        let capacity = described.entries.max(1);
        let empty = Entry::of(LineAddr(0), 0, Time::ZERO);
        Self {
            ring: vec![empty; capacity.next_power_of_two() as usize].into(),
            capacity: u64::from(capacity),
            ahead: u64::from(described.rfo_ahead.max(1)),
            lines: vec![Time::ZERO; described.rfo_lines.unwrap_or(0) as usize].into(),
            line_free: Time::ZERO,
            waits: false,
            head: 0,
            asked: 0,
            tail: 0,
            clflushes: 0,
            atomics_done: VecDeque::new(),
            reached: Time::ZERO,
            next: Time::ZERO,
            visible: Time::ZERO,
            filter: Filter::new(),
        }
    }

    #[inline(always)]
    fn entry(&self, number: StoreNumber) -> &Entry {
        &self.ring[number as usize & (self.ring.len() - 1)]
    }

    #[inline(always)]
    fn entry_mut(&mut self, number: StoreNumber) -> &mut Entry {
        &mut self.ring[number as usize & (self.ring.len() - 1)]
    }

    /// The entries and their numbers, the youngest first.
    #[inline]
    fn youngest_first(&self) -> impl Iterator<Item = (StoreNumber, &Entry)> {
        let mask = self.ring.len() - 1;
        let (first, behind) = (self.head as usize & mask, self.tail as usize & mask);
        let (older, younger) = if self.head == self.tail {
            (&self.ring[..0], &self.ring[..0])
        } else if first < behind {
            (&self.ring[..0], &self.ring[first..behind])
        } else {
            (&self.ring[first..], &self.ring[..behind])
        };
        let entries = younger.iter().rev().chain(older.iter().rev());
        (self.head..self.tail).rev().zip(entries)
    }

    /// Bytes may come from several stores.
    pub fn look(&self, line: LineAddr, bytes: ByteMask) -> Pending {
        let mut found = 0;
        let mut youngest = None;
        for (number, entry) in self.youngest_first() {
            if entry.line == line && entry.bytes & bytes != 0 {
                found |= entry.bytes & bytes;
                youngest = youngest.or(Some(number));
                if entry.atomic {
                    return youngest.map_or(Pending::None, Pending::Some);
                }
                if entry.bytes & bytes == bytes {
                    return Pending::All;
                }
                if found == bytes {
                    return youngest.map_or(Pending::All, Pending::Several);
                }
            }
        }
        youngest.map_or(Pending::None, Pending::Some)
    }

    pub fn youngest(&self, line: LineAddr) -> Option<StoreNumber> {
        let of_line = |(number, entry): (u64, &Entry)| (entry.line == line).then_some(number);
        self.youngest_first().find_map(of_line)
    }

    pub fn reached(&self, number: StoreNumber) -> Option<Time> {
        (number < self.head).then_some(self.reached)
    }

    /// But for those of a `clflush`.
    pub fn any_pending(&self) -> bool {
        self.tail - self.head > self.clflushes
    }

    pub fn any_clflush(&self) -> bool {
        self.clflushes > 0
    }

    pub fn have_begun(&self, number: StoreNumber) -> bool {
        number <= self.head
    }

    pub fn next_number(&self) -> StoreNumber {
        self.tail
    }

    #[inline(always)]
    pub fn room(&self, at: Time) -> Option<Time> {
        match self.tail - self.head {
            0 => Some(at),
            pending if pending < self.capacity => Some(self.freed(at)),
            _ => None,
        }
    }

    /// An entry that has just been drained is free when it reached the cache.
    #[inline(always)]
    fn freed(&self, at: Time) -> Time {
        if self.tail - self.head + 1 == self.capacity {
            at.max(self.reached)
        } else {
            at
        }
    }

    #[inline(always)]
    pub fn push(&mut self, line: LineAddr, bytes: ByteMask, ready: Time, way: Way) -> Time {
        self.insert(Entry {
            way,
            ..Entry::of(line, bytes, ready)
        })
    }

    /// When all before the youngest store to `line` has retired.
    pub fn ready(&self, line: LineAddr) -> Option<Time> {
        self.youngest(line).map(|number| self.entry(number).ready)
    }

    /// Puts a `clflush` in its place.
    pub fn push_clflush(&mut self, line: LineAddr, kind: FlushKind, ready: Time) -> Time {
        self.clflushes += 1;
        self.insert(Entry {
            clflush: Some(kind),
            ..Entry::of(line, 0, ready)
        })
    }

    /// Puts an atomic in its place; there is room.
    pub fn push_atomic(&mut self, line: LineAddr, bytes: ByteMask, ready: Time) -> Time {
        self.insert(Entry {
            atomic: true,
            ..Entry::of(line, bytes, ready)
        })
    }

    /// When the oldest atomic that has drained, and was not asked for yet, was done.
    #[inline]
    pub fn atomic_done(&mut self) -> Option<Time> {
        self.atomics_done.pop_front()
    }

    #[inline(always)]
    fn insert(&mut self, new: Entry) -> Time {
        let (number, Entry { line, ready, .. }) = (self.tail, new);
        let is_old = number < self.head + self.ahead;
        *self.entry_mut(number) = Entry {
            ask: if is_old { ready } else { UNKNOWN },
            ..new
        };
        self.tail += 1;
        self.filter.add(line);
        ready
    }

    #[inline(always)]
    pub fn run<B: Below>(
        &mut self,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Run {
        loop {
            if self.head == self.tail {
                return Run::Idle(UNKNOWN);
            }
            let drain = if self.head < self.asked && self.may_leave(flushes, env.params) {
                let oldest = self.entry(self.head);
                self.next.max(oldest.owned).max(oldest.ready)
            } else {
                UNKNOWN
            };
            let ask = match self.ask(limit.min(drain), env) {
                Ask::Done => continue,
                Ask::At(at) => at,
                Ask::Blocked => UNKNOWN,
            };
            let next = drain.min(ask);
            if next > limit || next == UNKNOWN {
                return Run::Idle(next);
            }
            if let Some(later) = self.drain(drain, limit, flushes, env) {
                return later;
            }
        }
    }

    /// The next store asks for its line if it can by `limit`.
    #[inline(always)]
    fn ask<B: Below>(&mut self, limit: Time, env: &mut Env<'_, B>) -> Ask {
        if self.asked == self.tail || self.asked >= self.head + self.ahead {
            return Ask::Blocked;
        }
        let Entry {
            line,
            ask,
            clflush,
            atomic,
            way,
            ..
        } = *self.entry(self.asked);
        if ask > limit {
            return Ask::At(ask);
        }
        if self.waits && self.line_free > limit {
            return Ask::At(self.line_free);
        }
        let owned = if clflush.is_some() || B::TYPES && way.is_past() {
            ask
        } else if env.below.owned(env.params.id, line) {
            let fill = env.fills.find(line, ask);
            fill.map_or(ask, |fill| env.leaves(atomic, fill.granted, fill.until))
        } else {
            let turn = env.after_flush(ask, line).max(self.line_free);
            let start = env.fills.free_at(turn);
            if start > limit {
                self.waits = true;
                return Ask::At(start);
            }
            if let Some(again) = env.refused(start, line, Asks::Own) {
                let asked = self.asked;
                self.entry_mut(asked).ask = again;
                return Ask::At(again);
            }
            let served = env.own_filled(start, line, way == Way::Unread);
            self.line_taken(served.done);
            env.leaves(atomic, served.granted, served.done)
        };
        let asked = self.asked;
        self.entry_mut(asked).owned = owned;
        self.asked += 1;
        self.waits = false;
        Ask::Done
    }

    /// May the oldest leave? Where stores leave before their data has come, a flush between them that waits for its
    /// line's data holds them up; elsewhere they wait for data themselves.
    #[inline(always)]
    fn may_leave(&self, flushes: &Flushes, params: &Params) -> bool {
        !params.leaves_when_granted || flushes.let_pass(self.head)
    }

    /// A line is under way until `done`.
    fn line_taken(&mut self, done: Time) {
        if let Some(first) = self.lines.iter_mut().min() {
            *first = done;
            self.line_free = self.lines.iter().min().copied().unwrap_or_default();
        }
    }

    /// The oldest leaves at `at`. Answers how the run ends, if it must.
    #[inline(always)]
    fn drain<B: Below>(
        &mut self,
        at: Time,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Option<Run> {
        let number = self.head;
        let Entry {
            line,
            bytes,
            clflush,
            atomic,
            way,
            ..
        } = *self.entry(number);
        if let Some(kind) = clflush {
            let start = flush_start(at, line, env.fills);
            if start > limit {
                self.entry_mut(number).owned = start;
                return Some(Run::Idle(start));
            }
            if let Some(again) = env.refused(start, line, Asks::Flush) {
                self.entry_mut(number).owned = again;
                return Some(Run::Idle(again));
            }
            self.clflushes -= 1;
            self.reached = flush(start, line, kind, env);
            self.next = self.reached;
            flushes.done = flushes.done.max(self.reached);
        } else if B::TYPES && way.is_past() {
            if let Some(again) = env.refused(at, line, Asks::Own) {
                self.entry_mut(number).owned = again;
                return Some(Run::Idle(again));
            }
            let by = env.stored(number);
            self.reached = env.write_past(way, at, line, bytes, &by);
            self.next = self.reached;
            self.visible = self.visible.max(self.reached);
        } else {
            if B::REFUSES
                && !env.below.owned(env.params.id, line)
                && let Some(again) = env.refused(at, line, Asks::Own)
            {
                // It was lost again.
                self.entry_mut(number).owned = again;
                return Some(Run::Idle(again));
            }
            let by = env.stored(number);
            let (reached, done) = env.write(at, line, bytes, &by);
            self.reached = reached;
            self.next = reached + env.params.store_period;
            self.visible = self.visible.max(done);
            if atomic {
                self.atomics_done.push_back(done);
            }
        }
        self.head += 1;
        self.filter.remove(line);
        // One more belongs to the oldest.
        let old = self.head + self.ahead - 1;
        if old < self.tail {
            let reached = self.reached;
            let entry = self.entry_mut(old);
            entry.ask = entry.ready.max(reached);
        }
        flushes.stored(number, self.reached).then_some(Run::Flush)
    }
}
