//! Long rows, from event to event.
//!
//! A vectorized loop comes to a new line with each execution or every few, so hardly any of them are `quiet`. Here each load and store
//! of the block knows in which execution its next *event* is: a load comes to a line that is to be looked at, a store to another line.
//! Executions with events are made as all others are; of those between only the stores are written down, once for each line.

mod loads;
mod plan;
mod stores;

use super::execution::Execution;
use crate::batch::Batch;
use crate::lines::LINE_SHIFT;

/// Executions behind the first one from which on a row is long.
pub(super) const LONG: usize = 4;

/// Loads, and stores, of blocks that are swept, at most.
const MOST: usize = 12;

/// An execution that there is not.
const NEVER: usize = usize::MAX;

/// A step of the block: one that loads, or one that stores.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    step: usize,
    /// In the row's first execution, and by how much it grows with each.
    addr: u64,
    stride: u64,
    size: u64,
    /// The execution of its next event, counted from the row's first one; of a load it may turn out to be none.
    next: usize,
    /// Of a load: the store that it reads ahead of, one more than its number; 0: none.
    ahead_of: usize,
    /// Of a load: the first access, and the end, of those that are looked at together, and whether it is the only step of those.
    first: u32,
    end: u32,
    is_lone: bool,
    /// Of a load: in the row it comes to lines that a store comes to.
    meets: bool,
}

impl Stream {
    #[inline(always)]
    fn at(&self, execution: usize) -> u64 {
        (self.addr).wrapping_add(self.stride.wrapping_mul(execution as u64))
    }

    /// The lines that it comes to up to execution `end`, the first and the last, with one more on either side.
    fn lines(&self, end: usize) -> (u64, u64) {
        let (a, b) = (self.addr, self.at(end));
        let last = a.max(b).saturating_add(self.size) >> LINE_SHIFT;
        ((a.min(b) >> LINE_SHIFT).saturating_sub(1), last + 1)
    }

    /// Does it touch one of the lines from `first` to `last` in the executions from `from` to `end`, before its next event?
    #[inline(always)]
    fn touches(&self, (first, last): (u64, u64), (from, end): (usize, usize)) -> bool {
        if self.next <= from {
            return true;
        }
        let (a, b) = (self.at(from), self.at(end.min(self.next - 1)));
        let (lo, hi) = (a.min(b), a.max(b).saturating_add(self.size - 1));
        lo >> LINE_SHIFT <= last && hi >> LINE_SHIFT >= first
    }
}

/// Executions that are looked ahead, at most: more than there are in a batch.
const FAR: u64 = 1 << 24;

/// The steps of the row that is swept.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Its last execution.
    end: usize,
    loads: [Stream; MOST],
    stores: [Stream; MOST],
    load_count: usize,
    store_count: usize,
    /// The last execution of which loads are made.
    looked_at: usize,
    /// Of the memory, as far as loads know.
    epochs: u64,
    /// The only store may go on from line to line without being made.
    advances: bool,
}

impl Sweep {
    fn loads(&self) -> &[Stream] {
        &self.loads[..self.load_count]
    }

    fn loads_mut(&mut self) -> &mut [Stream] {
        &mut self.loads[..self.load_count]
    }

    fn stores(&self) -> &[Stream] {
        &self.stores[..self.store_count]
    }

    /// The executions of the next events: of loads, of loads that read ahead of a store, of stores. One behind the end is none.
    #[inline(always)]
    fn next(&self) -> (usize, usize, usize) {
        let none = self.end + 1;
        let (mut other, mut ahead) = (none, none);
        for load in self.loads() {
            match load.ahead_of {
                0 => other = other.min(load.next),
                _ => ahead = ahead.min(load.next),
            }
        }
        let stores = self.stores().iter();
        (other, ahead, stores.fold(none, |next, s| next.min(s.next)))
    }
}

impl Execution<'_> {
    /// Makes the executions of the row behind number `i`, which is made, and says how many; 0: it is none to be swept.
    #[inline(never)]
    pub(super) fn sweep(&mut self, batch: &Batch, i: usize) -> usize {
        if !self.plan(batch, i) {
            return 0;
        }
        let end = self.looked.sweep.end;
        let mut made = 0;
        while made < end {
            let (other, ahead, store) = self.looked.sweep.next();
            if self.looked.sweep.advances && store < other {
                let advanced = self.advance(batch, i, (made, other - 1));
                if advanced > made {
                    made = advanced;
                    continue;
                }
            }
            let next = other.min(ahead).min(store);
            // Where loads and the store have an event, and it can advance, the loads are made first.
            let is_load = next < store || other == store && self.looked.sweep.advances;
            if next <= end && is_load && !self.happens(next) {
                continue;
            }
            if !self.go_on(batch, i, (made, next - 1)) {
                made += 1;
                self.make(batch, i, made);
            } else if next > end {
                return end;
            } else if is_load && self.look(batch, i, next, next == store) {
                made = next - 1;
            } else {
                made = next;
                self.make(batch, i, made);
            }
            self.look_again(made);
        }
        made
    }
}
