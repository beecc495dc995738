//! A directory without limit: which cores have which line.

use rustc_hash::FxHashMap;

use super::directory::Sharers;
use super::geometry::GOLDEN;
use crate::host::prefetch;

/// A hash table with linear probing, made for lines that one core has; others stand in a map.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A power of two of them, at most half in use.
    entries: Vec<Entry>,
    used: usize,
    /// The cores of lines that several have.
    many: FxHashMap<u64, u128>,
}

/// A line and who has it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    line: u64,
    who: Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The entry is free.
    Nobody,
    One {
        core: u8,
        exclusive: bool,
    },
    Many,
}

const FREE: Entry = Entry {
    line: 0,
    who: Who::Nobody,
};

impl Table {
    pub(super) fn new() -> Self {
        Self {
            entries: vec![FREE; 1024],
            used: 0,
            many: FxHashMap::default(),
        }
    }

    #[inline]
    fn home(&self, line: u64) -> usize {
        let bits = self.entries.len().trailing_zeros();
        (line.wrapping_mul(GOLDEN) >> (64 - bits)) as usize
    }

    /// `line` will be asked for soon.
    #[inline]
    pub(super) fn soon(&self, line: u64) {
        prefetch(&self.entries, self.home(line));
    }

    /// The entry of `line`, or the free one where it would be.
    #[inline]
    fn find(&self, line: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = self.home(line);
        loop {
            let entry = &self.entries[at];
            if entry.who == Who::Nobody || entry.line == line {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    pub(super) fn get(&self, line: u64) -> Sharers {
        match self.entries[self.find(line)].who {
            Who::Nobody => Sharers::default(),
            Who::One { core, exclusive } => Sharers {
                cores: 1 << core,
                exclusive,
            },
            Who::Many => Sharers {
                cores: self.many.get(&line).copied().unwrap_or_default(),
                exclusive: false,
            },
        }
    }

    /// `core` has `line`, alone and with permission to write where `exclusive`.
    #[inline]
    pub(super) fn add(&mut self, line: u64, core: u32, exclusive: bool) {
        let mut at = self.find(line);
        let who = match self.entries[at].who {
            Who::Nobody => {
                if 2 * (self.used + 1) > self.entries.len() {
                    self.grow();
                    at = self.find(line);
                }
                self.used += 1;
                Who::One {
                    core: core as u8,
                    exclusive,
                }
            }
            Who::One { core: other, .. } if u32::from(other) == core => Who::One {
                core: other,
                exclusive,
            },
            Who::One { core: other, .. } => {
                self.many.insert(line, (1 << other) | (1 << core));
                Who::Many
            }
            Who::Many => {
                *self.many.entry(line).or_default() |= 1 << core;
                Who::Many
            }
        };
        self.entries[at] = Entry { line, who };
    }

    /// `core` has `line` no longer.
    #[inline]
    pub(super) fn remove(&mut self, line: u64, core: u32) {
        let at = self.find(line);
        match self.entries[at].who {
            Who::One { core: only, .. } if u32::from(only) == core => self.free(at),
            Who::Many => {
                let cores = self.many.get(&line).copied().unwrap_or_default() & !(1 << core);
                if cores.is_power_of_two() {
                    self.many.remove(&line);
                    self.entries[at].who = Who::One {
                        core: cores.trailing_zeros() as u8,
                        exclusive: false,
                    };
                } else {
                    self.many.insert(line, cores);
                }
            }
            Who::One { .. } | Who::Nobody => {}
        }
    }

    /// Nobody has `line` any more.
    pub(super) fn forget(&mut self, line: u64) {
        let at = self.find(line);
        let who = self.entries[at].who;
        if who == Who::Many {
            self.many.remove(&line);
        }
        if who != Who::Nobody {
            self.free(at);
        }
    }

    /// Who has `line` may only read it.
    pub(super) fn downgrade(&mut self, line: u64) {
        let at = self.find(line);
        if let Who::One { exclusive, .. } = &mut self.entries[at].who {
            *exclusive = false;
        }
    }

    /// Frees an entry; those behind it that could not stand nearer to their place move up.
    fn free(&mut self, at: usize) {
        let mask = self.entries.len() - 1;
        let (mut hole, mut next) = (at, at);
        loop {
            next = (next + 1) & mask;
            let entry = self.entries[next];
            if entry.who == Who::Nobody {
                break;
            }
            let from_home = next.wrapping_sub(self.home(entry.line)) & mask;
            if from_home >= (next.wrapping_sub(hole) & mask) {
                self.entries[hole] = entry;
                hole = next;
            }
        }
        self.entries[hole] = FREE;
        self.used -= 1;
    }

    fn grow(&mut self) {
        let double = vec![FREE; self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, double) {
            if entry.who != Who::Nobody {
                let at = self.find(entry.line);
                self.entries[at] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Sharers, Table};
    use crate::random::Random;

    #[test]
    fn the_table_is_a_map() {
        let (mut table, mut map) = (Table::new(), BTreeMap::<u64, Sharers>::new());
        let mut random = Random::new(5);
        for step in 0..200_000 {
            // First it grows, then it is emptied again and again.
            let line = random.below(if step < 100_000 { 5000 } else { 300 });
            let core = [0, 1, 127][random.below(3) as usize];
            let sharers = map.entry(line).or_default();
            match random.below(10) {
                0..5 => {
                    let exclusive = sharers.cores & !(1 << core) == 0;
                    table.add(line, core, exclusive);
                    sharers.cores |= 1 << core;
                    sharers.exclusive = exclusive;
                }
                5..8 => {
                    table.remove(line, core);
                    sharers.cores &= !(1 << core);
                    sharers.exclusive &= sharers.cores != 0;
                }
                8 => {
                    table.forget(line);
                    *sharers = Sharers::default();
                }
                _ => {
                    table.downgrade(line);
                    sharers.exclusive = false;
                }
            }
            let other = random.below(5000);
            let expected = map.get(&other).copied().unwrap_or_default();
            assert_eq!(table.get(other), expected, "step {step}, line {other}");
        }
    }
}
