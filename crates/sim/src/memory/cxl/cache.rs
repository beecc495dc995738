//! A cache of units on a CXL device.

use prestore_machine::device::DeviceCache;

use super::backing::Backing;
use crate::Time;
use crate::divide::Divisor;
use crate::memory::device::DeviceCounters;

/// Bytes whose dirtiness is followed together.
const SECTOR: u64 = 64;

/// A set-associative, least-recently-used cache of units, written back on eviction.
///
/// A written unit is not fetched: only where some bytes of it are missing when it is read, written
/// in part of a sector, or evicted, it is read from the backing memory (one read-modify-write if the
/// reason is a write).
#[derive(Clone, Debug)]
pub(super) struct UnitCache {
    sets: Divisor,
    ways: usize,
    hit: Time,
    entries: Vec<Entry>,
    /// Dirty sectors, a bit each, `words` for each entry.
    dirty: Vec<u64>,
    words: usize,
    sectors: u64,
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// First address of the unit, or none.
    unit: u64,
    used: u64,
    /// All bytes are here.
    complete: bool,
}

const NO_UNIT: u64 = u64::MAX;

impl UnitCache {
    pub(super) fn new(cache: &DeviceCache, unit: u64) -> Self {
        let ways = cache.ways.max(1) as usize;
        let sets = (cache.size.0 / unit.max(1) / ways as u64).max(1);
        let sectors = unit.div_ceil(SECTOR);
        let words = sectors.div_ceil(64) as usize;
        let entries = sets as usize * ways;
        Self {
            sets: Divisor::new(sets),
            ways,
            hit: Time::nanos(cache.hit),
            entries: vec![
                Entry {
                    unit: NO_UNIT,
                    used: 0,
                    complete: false,
                };
                entries
            ],
            dirty: vec![0; entries * words],
            words,
            sectors,
            clock: 0,
        }
    }

    /// Reads `span` (address and bytes), which lies in `unit`; answers when the data is there.
    pub(super) fn read(
        &mut self,
        at: Time,
        span: (u64, u64),
        unit: u64,
        backing: &mut Backing,
        counters: &mut DeviceCounters,
    ) -> Time {
        let looked = at + self.hit;
        let entry = self.entry(looked, unit, backing, counters).0;
        let wanted = sectors(span.0, span.1, unit, self.sectors);
        if self.entries[entry].complete || wanted.into_iter().all(|s| self.is_dirty(entry, s)) {
            return looked;
        }
        self.entries[entry].complete = true;
        backing.read(looked, unit)
    }

    /// Writes `bytes` (address and mask), which touch `unit`; answers when they are taken: a unit
    /// that has to go for them has gone.
    pub(super) fn write(
        &mut self,
        at: Time,
        bytes: (u64, u128),
        unit: u64,
        backing: &mut Backing,
        counters: &mut DeviceCounters,
    ) -> Time {
        let (entry, gone) = self.entry(at + self.hit, unit, backing, counters);
        let mut done = gone;
        for half in 0..2 {
            let part = (bytes.1 >> (64 * half)) as u64;
            let addr = bytes.0 + SECTOR * half;
            if part == 0 || addr < unit {
                continue;
            }
            let sector = (addr - unit) / SECTOR;
            if sector >= self.sectors {
                continue;
            }
            if part != u64::MAX && !self.entries[entry].complete && !self.is_dirty(entry, sector) {
                counters.read_modify_writes += 1;
                self.entries[entry].complete = true;
                done = done.max(backing.read(gone, unit));
            }
            self.dirty[entry * self.words + (sector / 64) as usize] |= 1 << (sector % 64);
        }
        done
    }

    /// Writes back all that is dirty.
    pub(super) fn drain(
        &mut self,
        at: Time,
        backing: &mut Backing,
        counters: &mut DeviceCounters,
    ) -> Time {
        (0..self.entries.len())
            .map(|entry| self.write_back(at, entry, backing, counters))
            .max()
            .unwrap_or(at)
    }

    /// The entry of `unit`, and when it is free for it: a dirty victim is written back first.
    fn entry(
        &mut self,
        at: Time,
        unit: u64,
        backing: &mut Backing,
        counters: &mut DeviceCounters,
    ) -> (usize, Time) {
        self.clock += 1;
        let (_, set) = self.sets.split(backing.units().number(unit));
        let first = set as usize * self.ways;
        let ways = &mut self.entries[first..first + self.ways];
        if let Some(way) = ways.iter().position(|entry| entry.unit == unit) {
            ways[way].used = self.clock;
            return (first + way, at);
        }
        let oldest = ways.iter().enumerate().min_by_key(|(_, entry)| entry.used);
        let entry = first + oldest.map_or(0, |(way, _)| way);
        let gone = self.write_back(at, entry, backing, counters);
        self.entries[entry] = Entry {
            unit,
            used: self.clock,
            complete: false,
        };
        (entry, gone)
    }

    fn write_back(
        &mut self,
        at: Time,
        entry: usize,
        backing: &mut Backing,
        counters: &mut DeviceCounters,
    ) -> Time {
        let words = entry * self.words..(entry + 1) * self.words;
        let dirty: u64 = self.dirty[words.clone()]
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum();
        let Entry { unit, complete, .. } = self.entries[entry];
        if dirty == 0 || unit == NO_UNIT {
            return at;
        }
        self.dirty[words].fill(0);
        let mut ready = at;
        if !complete && dirty < self.sectors {
            counters.read_modify_writes += 1;
            ready = backing.read(at, unit);
            self.entries[entry].complete = true;
        }
        backing.write(ready, unit)
    }

    #[inline]
    fn is_dirty(&self, entry: usize, sector: u64) -> bool {
        self.dirty[entry * self.words + (sector / 64) as usize] >> (sector % 64) & 1 == 1
    }
}

/// Sectors of `unit` that `bytes` at `addr` lie in.
fn sectors(addr: u64, bytes: u64, unit: u64, count: u64) -> std::ops::Range<u64> {
    let from = addr.saturating_sub(unit) / SECTOR;
    let until = (addr + bytes).saturating_sub(unit).div_ceil(SECTOR);
    from..until.min(count)
}
