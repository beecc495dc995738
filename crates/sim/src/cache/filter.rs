//! A directory of limited size: the snoop filter.

use prestore_machine::{Replacement, SliceHash, SnoopFilter};

use super::directory::Sharers;
use super::geometry::Index;
use super::replacement::Replacer;
use crate::host::prefetch;
use crate::random::Random;

/// Set-associative, LRU by the last time a core was added, plain indexing.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    index: Index,
    ways: usize,
    entries: Vec<Entry>,
    /// The cores of each entry, apart, so that a search reads little of the host's memory.
    cores: Vec<u128>,
    replacer: Replacer,
}

/// Line number and state in one word. Zero: empty.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(u64);

const USED: u64 = 1;
const EXCLUSIVE: u64 = 2;
const SHIFT: u32 = 2;

impl Entry {
    fn new(line: u64, exclusive: bool) -> Self {
        Self((line << SHIFT) | if exclusive { EXCLUSIVE } else { 0 } | USED)
    }

    fn is(self, line: u64) -> bool {
        self.0 & !EXCLUSIVE == (line << SHIFT) | USED
    }

    fn line(self) -> u64 {
        self.0 >> SHIFT
    }
}

impl Filter {
    pub(super) fn new(size: SnoopFilter) -> Self {
        let ways = size.ways as usize;
        let sets = (size.entries / u64::from(size.ways)) as usize;
        Self {
            index: Index::new(SliceHash::None, 1, sets as u64),
            ways,
            entries: vec![Entry::default(); sets * ways],
            cores: vec![0; sets * ways],
            replacer: Replacer::new(Replacement::Lru, ways, sets, vec![Random::new(0)]),
        }
    }

    #[inline]
    fn find(&self, line: u64) -> Option<usize> {
        let first = self.index.set(line) * self.ways;
        let set = &self.entries[first..first + self.ways];
        set.iter().position(|e| e.is(line)).map(|way| first + way)
    }

    /// The entries that `line` may have will be looked at soon.
    #[inline]
    pub(super) fn soon(&self, line: u64) {
        let set = self.index.set(line);
        let first = set * self.ways;
        prefetch(&self.entries, first);
        prefetch(&self.entries, first + self.ways - 1);
        self.replacer.soon(set);
    }

    fn sharers(&self, entry: usize) -> Sharers {
        Sharers {
            cores: self.cores[entry],
            exclusive: self.entries[entry].0 & EXCLUSIVE != 0,
        }
    }

    pub(super) fn get(&self, line: u64) -> Sharers {
        self.find(line)
            .map_or_else(Sharers::default, |entry| self.sharers(entry))
    }

    pub(super) fn add(&mut self, line: u64, core: u32, exclusive: bool) -> Option<(u64, Sharers)> {
        let set = self.index.set(line);
        let first = set * self.ways;
        let mut gone = None;
        let entry = self.find(line).unwrap_or_else(|| {
            let all = &self.entries[first..first + self.ways];
            let empty = all.iter().position(|e| e.0 == 0);
            let way = empty.unwrap_or_else(|| self.replacer.victim(0, set, self.ways));
            let entry = first + way;
            if self.entries[entry].0 != 0 {
                gone = Some((self.entries[entry].line(), self.sharers(entry)));
            }
            self.cores[entry] = 0;
            entry
        });
        self.replacer.hit(set, entry - first, self.ways);
        self.cores[entry] |= 1 << core;
        self.entries[entry] = Entry::new(line, exclusive);
        gone
    }

    pub(super) fn remove(&mut self, line: u64, core: u32) {
        if let Some(entry) = self.find(line) {
            self.cores[entry] &= !(1 << core);
            if self.cores[entry] == 0 {
                self.entries[entry] = Entry::default();
            }
        }
    }

    pub(super) fn forget(&mut self, line: u64) {
        if let Some(entry) = self.find(line) {
            self.entries[entry] = Entry::default();
        }
    }

    pub(super) fn downgrade(&mut self, line: u64) {
        if let Some(entry) = self.find(line) {
            self.entries[entry].0 &= !EXCLUSIVE;
        }
    }
}
