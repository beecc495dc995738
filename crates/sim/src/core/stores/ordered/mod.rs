//! TSO: a store buffer that drains in program order.

mod draining;
mod entry;

use std::collections::VecDeque;

use prestore_machine::StoreBuffer as Described;
use prestore_trace::{FlushKind, LineAddr};

use self::entry::Entry;
use super::{Pending, Way};
use crate::core::flushes::StoreNumber;
use crate::{ByteMask, Time};

/// When something will be known only after something else.
const UNKNOWN: Time = Time(u64::MAX);

/// Lines are told apart by the low bits of their number before they are looked for.
const BUCKETS: usize = 256;

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
    /// When the first that has not asked may, and when the oldest may leave, as far as that depends on stores.
    asks_at: Time,
    leaves_at: Time,
    /// Numbers of the oldest entry, the first that has not asked, the next to come.
    head: u64,
    asked: u64,
    tail: u64,
    /// Entries of flushes.
    flushes: u64,
    /// When atomics that have drained, and were not asked for since, were done.
    atomics_done: VecDeque<Time>,
    /// When the youngest drained store reached the cache, and when the next may.
    reached: Time,
    next: Time,
    /// When all drained stores are done.
    pub visible: Time,
    /// One more than the number of the youngest entry of each bucket of lines, pending or not; 0: none.
    newest: Box<[u64; BUCKETS]>,
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
            asks_at: UNKNOWN,
            leaves_at: UNKNOWN,
            head: 0,
            asked: 0,
            tail: 0,
            flushes: 0,
            atomics_done: VecDeque::new(),
            reached: Time::ZERO,
            next: Time::ZERO,
            visible: Time::ZERO,
            newest: Box::new([0; BUCKETS]),
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

    #[inline(always)]
    fn bucket(line: LineAddr) -> usize {
        line.0 as usize % BUCKETS
    }

    /// False: nothing of `line` is pending.
    #[inline(always)]
    pub fn may_hold(&self, line: LineAddr) -> bool {
        self.newest[Self::bucket(line)] > self.head
    }

    /// The entries of `line` and their numbers, the youngest first.
    #[inline]
    fn youngest_first(&self, line: LineAddr) -> impl Iterator<Item = (StoreNumber, &Entry)> {
        let mut behind = self.newest[Self::bucket(line)];
        let each = std::iter::from_fn(move || {
            (behind > self.head).then(|| {
                let number = behind - 1;
                let entry = self.entry(number);
                behind = entry.before;
                (number, entry)
            })
        });
        each.filter(move |(_, entry)| entry.line == line)
    }

    /// Bytes may come from several stores.
    pub fn look(&self, line: LineAddr, bytes: ByteMask) -> Pending {
        let mut found = 0;
        let mut youngest = None;
        for (number, entry) in self.youngest_first(line) {
            if entry.bytes & bytes != 0 {
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
        self.youngest_first(line).next().map(|(number, _)| number)
    }

    pub fn reached(&self, number: StoreNumber) -> Option<Time> {
        (number < self.head).then_some(self.reached)
    }

    /// But for flushes.
    pub fn any_pending(&self) -> bool {
        self.tail - self.head > self.flushes
    }

    pub fn any_flush(&self) -> bool {
        self.flushes > 0
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

    /// Store `number` retires at `ready`, which was not known when it came.
    pub fn retire(&mut self, number: StoreNumber, ready: Time) -> Time {
        if number < self.head {
            return UNKNOWN;
        }
        let (is_old, is_next) = (number < self.head + self.ahead, number == self.asked);
        let entry = self.entry_mut(number);
        entry.ready = ready;
        if is_old {
            entry.ask = ready;
            if is_next {
                self.asks_at = ready;
            }
        }
        ready
    }

    /// When all before the youngest store to `line` has retired.
    pub fn ready(&self, line: LineAddr) -> Option<Time> {
        self.youngest(line).map(|number| self.entry(number).ready)
    }

    /// Puts a flush in its place.
    pub fn push_flush(&mut self, line: LineAddr, kind: FlushKind, ready: Time) -> Time {
        self.flushes += 1;
        self.insert(Entry {
            flush: Some(kind),
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
        let before = std::mem::replace(&mut self.newest[Self::bucket(line)], number + 1);
        *self.entry_mut(number) = Entry {
            ask: if is_old { ready } else { UNKNOWN },
            before,
            ..new
        };
        self.tail += 1;
        if number == self.asked && is_old {
            self.asks_at = ready;
        }
        ready
    }
}
