//! A directory of limited size: the snoop filter.

use prestore_machine::{Replacement, SliceHash, SnoopFilter};

use super::directory::Sharers;
use super::geometry::Index;
use super::replacement::Replacer;
use crate::random::Random;

/// Set-associative, LRU by the last time a core was added, plain indexing.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    index: Index,
    ways: usize,
    /// An entry without cores is empty.
    lines: Vec<u64>,
    sharers: Vec<Sharers>,
    replacer: Replacer,
}

impl Filter {
    pub(super) fn new(size: SnoopFilter) -> Self {
        let ways = size.ways as usize;
        let sets = (size.entries / u64::from(size.ways)) as usize;
        Self {
            index: Index::new(SliceHash::None, 1, sets as u64),
            ways,
            lines: vec![0; sets * ways],
            sharers: vec![Sharers::default(); sets * ways],
            replacer: Replacer::new(Replacement::Lru, ways, sets, vec![Random::new(0)]),
        }
    }

    fn find(&self, line: u64) -> Option<usize> {
        let first = self.index.set(line) * self.ways;
        (first..first + self.ways)
            .find(|&entry| self.lines[entry] == line && self.sharers[entry].cores != 0)
    }

    pub(super) fn get(&self, line: u64) -> Sharers {
        self.find(line)
            .map_or_else(Sharers::default, |entry| self.sharers[entry])
    }

    pub(super) fn add(&mut self, line: u64, core: u32, exclusive: bool) -> Option<(u64, Sharers)> {
        let set = self.index.set(line);
        let first = set * self.ways;
        let mut gone = None;
        let entry = self.find(line).unwrap_or_else(|| {
            let empty = (first..first + self.ways).find(|&entry| self.sharers[entry].cores == 0);
            let entry = empty.unwrap_or_else(|| first + self.replacer.victim(0, set, self.ways));
            if self.sharers[entry].cores != 0 {
                gone = Some((self.lines[entry], self.sharers[entry]));
            }
            self.lines[entry] = line;
            self.sharers[entry] = Sharers::default();
            entry
        });
        self.replacer.hit(set, entry - first, self.ways);
        self.sharers[entry].cores |= 1 << core;
        self.sharers[entry].exclusive = exclusive;
        gone
    }

    pub(super) fn remove(&mut self, line: u64, core: u32) {
        if let Some(entry) = self.find(line) {
            self.sharers[entry].cores &= !(1 << core);
        }
    }

    pub(super) fn forget(&mut self, line: u64) {
        if let Some(entry) = self.find(line) {
            self.sharers[entry] = Sharers::default();
        }
    }

    pub(super) fn downgrade(&mut self, line: u64) {
        if let Some(entry) = self.find(line) {
            self.sharers[entry].exclusive = false;
        }
    }
}
