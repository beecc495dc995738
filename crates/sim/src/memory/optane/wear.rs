//! Wear levelling: blocks that are written often move.

use prestore_machine::device::Migration;

use crate::Time;
use crate::divide::Divisor;
use crate::host::prefetch;

/// Write counts of blocks, in a table of as many entries as the translation buffer has; a block that
/// takes another's entry starts at 0.
#[derive(Debug)]
pub(super) struct Wear {
    block: Divisor,
    limit: u32,
    pause: Time,
    entries: Vec<Entry>,
    places: Divisor,
    /// No block moves from here on.
    last: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    block: u64,
    writes: u32,
    busy_until: Time,
}

impl Wear {
    pub(super) fn new(config: Migration, units_per_block: u64) -> Self {
        Self {
            block: Divisor::new(units_per_block),
            limit: config.writes.max(1),
            pause: Time::nanos(config.pause),
            entries: vec![Entry::default(); config.tracked.max(1) as usize],
            places: Divisor::new(u64::from(config.tracked)),
            last: Time::ZERO,
        }
    }

    /// `unit` will be written soon.
    #[inline]
    pub(super) fn soon(&self, unit: u64) {
        prefetch(&self.entries, self.index(self.block.quotient(unit)));
    }

    /// `unit` has been written at `at`.
    pub(super) fn written(&mut self, at: Time, unit: u64) {
        let block = self.block.quotient(unit);
        let (limit, pause) = (self.limit, self.pause);
        let index = self.index(block);
        let entry = &mut self.entries[index];
        if entry.block != block {
            *entry = Entry {
                block,
                ..Entry::default()
            };
        }
        entry.writes += 1;
        if entry.writes >= limit {
            entry.writes = 0;
            entry.busy_until = at + pause;
            self.last = self.last.max(entry.busy_until);
        }
    }

    /// When, from `at` on, `unit` can be accessed: when its block is not moving.
    #[inline]
    pub(super) fn movable(&self, at: Time, unit: u64) -> Time {
        if at >= self.last {
            return at;
        }
        at.max(self.busy_until(unit))
    }

    fn busy_until(&self, unit: u64) -> Time {
        let block = self.block.quotient(unit);
        let entry = &self.entries[self.index(block)];
        if entry.block == block {
            entry.busy_until
        } else {
            Time::ZERO
        }
    }

    fn index(&self, block: u64) -> usize {
        self.places.remainder(spread(block)) as usize
    }
}

/// Spreads block numbers, so that equal offsets of large regions do not meet in one entry.
pub(super) fn spread(block: u64) -> u64 {
    block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
