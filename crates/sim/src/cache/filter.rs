//! A directory of limited size: the snoop filter.

use prestore_machine::SnoopFilter;
use rustc_hash::FxHashMap;

use super::directory::Sharers;
use super::replacement::{ages, make_youngest, oldest};
use crate::divide::Divisor;
use crate::host::{Aligned, prefetch};

/// Set-associative, LRU by the last time a core was added, plain indexing.
///
/// What is known of a set stands together, so that a look at it reads little of the host's memory: the order of
/// use and the core of each entry, a byte a way, then the entries.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    index: Divisor,
    ways: usize,
    /// Words of a byte a way.
    bytes: usize,
    sets: Aligned<u64>,
    /// The cores of entries that have several.
    many: FxHashMap<u64, u128>,
}

/// Line number and state in one word. Zero: empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry(u64);

const USED: u64 = 1;
const EXCLUSIVE: u64 = 2;
const SHIFT: u32 = 2;
/// In place of a core: they stand in the map.
const MANY: u8 = 0xFF;

impl Entry {
    fn new(line: u64, exclusive: bool) -> Self {
        Self((line << SHIFT) | if exclusive { EXCLUSIVE } else { 0 } | USED)
    }

    #[inline]
    fn is(self, line: u64) -> bool {
        self.0 & !EXCLUSIVE == (line << SHIFT) | USED
    }

    fn line(self) -> u64 {
        self.0 >> SHIFT
    }

    fn exclusive(self) -> bool {
        self.0 & EXCLUSIVE != 0
    }
}

/// Where an entry stands: the first word of its set, and its way.
#[derive(Clone, Copy, Debug)]
struct At {
    set: usize,
    way: usize,
}

impl Filter {
    pub(super) fn new(size: SnoopFilter) -> Self {
        let ways = size.ways as usize;
        let sets = (size.entries / u64::from(size.ways)) as usize;
        let bytes = ways.div_ceil(8);
        let mut set = ages(ways);
        set.resize(2 * bytes + ways, 0);
        Self {
            index: Divisor::new(sets as u64),
            ways,
            bytes,
            sets: Aligned::repeat(&set, sets),
            many: FxHashMap::default(),
        }
    }

    #[inline]
    fn set(&self, line: u64) -> usize {
        self.index.remainder(line) as usize * (2 * self.bytes + self.ways)
    }

    /// The word of an entry.
    #[inline]
    fn word(&self, at: At) -> usize {
        at.set + 2 * self.bytes + at.way
    }

    #[inline]
    fn entry(&self, at: At) -> Entry {
        Entry(self.sets[self.word(at)])
    }

    #[inline]
    fn set_entry(&mut self, at: At, entry: Entry) {
        let word = self.word(at);
        self.sets[word] = entry.0;
    }

    #[inline]
    fn core(&self, at: At) -> u8 {
        (self.sets[at.set + self.bytes + at.way / 8] >> (at.way % 8 * 8)) as u8
    }

    #[inline]
    fn set_core(&mut self, at: At, core: u8) {
        let word = &mut self.sets[at.set + self.bytes + at.way / 8];
        let shift = at.way % 8 * 8;
        *word = (*word & !(0xFF << shift)) | (u64::from(core) << shift);
    }

    #[inline]
    fn find(&self, line: u64) -> Option<At> {
        self.find_in(self.set(line), |entry| entry.is(line))
    }

    #[inline]
    fn find_in(&self, set: usize, is_it: impl Fn(Entry) -> bool) -> Option<At> {
        let first = set + 2 * self.bytes;
        let entries = &self.sets[first..first + self.ways];
        let way = entries.iter().position(|&word| is_it(Entry(word)))?;
        Some(At { set, way })
    }

    /// The set that `line` may have an entry in will be looked at soon.
    #[inline]
    pub(super) fn soon(&self, line: u64) {
        let set = self.set(line);
        prefetch(&self.sets, set);
        prefetch(&self.sets, set + 2 * self.bytes + self.ways - 1);
    }

    fn sharers(&self, at: At) -> Sharers {
        let entry = self.entry(at);
        Sharers {
            cores: match self.core(at) {
                MANY => self.many.get(&entry.line()).copied().unwrap_or_default(),
                core => 1 << core,
            },
            exclusive: entry.exclusive(),
        }
    }

    pub(super) fn get(&self, line: u64) -> Sharers {
        self.find(line)
            .map_or_else(Sharers::default, |at| self.sharers(at))
    }

    pub(super) fn add(&mut self, line: u64, core: u32, exclusive: bool) -> Option<(u64, Sharers)> {
        let set = self.set(line);
        let mut gone = None;
        let at = if let Some(at) = self.find_in(set, |entry| entry.is(line)) {
            let before = self.sharers(at).cores;
            if before != 1 << core {
                self.many.insert(line, before | 1 << core);
                self.set_core(at, MANY);
            }
            at
        } else {
            let empty = self.find_in(set, |entry| entry == Entry::default());
            let at = empty.unwrap_or_else(|| {
                let way = oldest(&self.sets[set..set + self.bytes], self.ways);
                At { set, way }
            });
            if empty.is_none() {
                gone = Some((self.entry(at).line(), self.sharers(at)));
                self.empty(at);
            }
            self.set_core(at, core as u8);
            at
        };
        make_youngest(&mut self.sets[set..set + self.bytes], at.way);
        self.set_entry(at, Entry::new(line, exclusive));
        gone
    }

    pub(super) fn remove(&mut self, line: u64, core: u32) {
        let Some(at) = self.find(line) else {
            return;
        };
        match self.core(at) {
            MANY => {
                let cores = self.sharers(at).cores & !(1 << core);
                if cores.is_power_of_two() {
                    self.many.remove(&line);
                    self.set_core(at, cores.trailing_zeros() as u8);
                } else {
                    self.many.insert(line, cores);
                }
            }
            only if u32::from(only) == core => self.set_entry(at, Entry::default()),
            _ => {}
        }
    }

    pub(super) fn forget(&mut self, line: u64) {
        if let Some(at) = self.find(line) {
            self.empty(at);
        }
    }

    fn empty(&mut self, at: At) {
        if self.core(at) == MANY {
            self.many.remove(&self.entry(at).line());
        }
        self.set_entry(at, Entry::default());
    }

    pub(super) fn downgrade(&mut self, line: u64) {
        if let Some(at) = self.find(line) {
            let entry = self.entry(at);
            self.set_entry(at, Entry(entry.0 & !EXCLUSIVE));
        }
    }
}
