//! Which load each register's value came from.

use super::flow::From;
use super::uses::{COUNT, Registers};

/// Of a thread, where it executes.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// Loads so far.
    pub loads: u64,
    /// One more than the number of the load that each register's value came from; 0: none.
    from: [u64; COUNT],
    /// The same of the references of the block under way.
    refs: Vec<u64>,
}

impl Default for Carried {
    fn default() -> Self {
        Self {
            loads: 0,
            from: [0; COUNT],
            refs: Vec::new(),
        }
    }
}

impl Carried {
    fn youngest(&self, of: Registers) -> u64 {
        let (mut left, mut youngest) = (of, 0);
        while left != 0 {
            youngest = youngest.max(self.from[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
        youngest
    }

    /// How many loads back the youngest is whose value is in one of `registers`, for an operation behind `ahead` more
    /// loads; 0: none that is near.
    #[inline]
    pub fn back_to(&self, registers: Registers, ahead: u16) -> u16 {
        distance(self.loads + u64::from(ahead), self.youngest(registers))
    }

    /// A block was executed whose registers hold `behind`; `load` tells how many of its loads came before a
    /// reference, and the block has `loads`.
    #[inline]
    pub fn pass(&mut self, behind: &[(u8, From)], loads: u64, load: impl Fn(u16) -> u64) {
        let base = self.loads;
        self.change(behind, |at| base + load(at) + 1);
        self.loads = base + loads;
    }

    /// All at once, as each follows from what was before the block.
    fn change(&mut self, behind: &[(u8, From)], load: impl Fn(u16) -> u64) {
        let before = match behind {
            [] => return,
            [(r, from)] => {
                self.from[usize::from(*r)] = self.source(*from, &load);
                return;
            }
            _ => self.from,
        };
        for (r, from) in behind {
            let source = match from {
                From::Before(registers) if registers.count_ones() == 1 => {
                    before[registers.trailing_zeros() as usize]
                }
                From::Before(registers) => (0..COUNT)
                    .filter(|r| registers >> r & 1 == 1)
                    .fold(0, |youngest, r| youngest.max(before[r])),
                other => self.source(*other, &load),
            };
            self.from[usize::from(*r)] = source;
        }
    }

    fn source(&self, from: From, load: &impl Fn(u16) -> u64) -> u64 {
        match from {
            From::Nothing => 0,
            From::Here(at) => load(at),
            From::Before(registers) => self.youngest(registers),
        }
    }

    /// A block of `refs` references begins, which is executed one reference after the other.
    pub fn begin(&mut self, refs: usize) {
        self.refs.clear();
        self.refs.resize(refs, 0);
    }

    /// How many loads back the one is that a reference waits for.
    pub fn back(&self, after: From) -> u16 {
        let youngest = match after {
            From::Nothing => 0,
            From::Here(at) => self.refs.get(usize::from(at)).copied().unwrap_or(0),
            From::Before(registers) => self.youngest(registers),
        };
        distance(self.loads, youngest)
    }

    /// Reference `at` loaded.
    pub fn loaded(&mut self, at: usize) {
        self.loads += 1;
        if let Some(last) = self.refs.get_mut(at) {
            *last = self.loads;
        }
    }

    /// The block that began is done.
    pub fn end(&mut self, behind: &[(u8, From)]) {
        let refs = std::mem::take(&mut self.refs);
        self.change(behind, |at| refs.get(usize::from(at)).copied().unwrap_or(0));
        self.refs = refs;
    }
}

/// From the load of number `youngest - 1` to what comes behind `loads` loads.
#[inline]
fn distance(loads: u64, youngest: u64) -> u16 {
    if youngest == 0 {
        return 0;
    }
    u16::try_from(loads - youngest + 1).unwrap_or(0)
}
