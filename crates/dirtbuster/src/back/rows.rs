//! Executions of one block, one after the other, whose values go on by constant strides.

use super::quiet::{MOST, values};
use super::sweep::LONG;
use crate::batch::Batch;

/// Executions behind the first in which a value may show that it has no constant stride: the row then goes on without it, if
/// nothing is stored through it.
const TRIED: usize = 4;

/// A row of a batch's executions, and the strides of its values.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    run: u32,
    /// The first execution that it is known of, and the one behind its last.
    first: usize,
    end: usize,
    strides: [u64; MOST],
    /// Values without a stride: a bit each.
    free: u16,
    /// It cannot be swept.
    pub(super) unswept: bool,
}

impl Row {
    /// Number `i` is in a row: this one, or else the one that begins with it. It has so many values, those that stores are made
    /// of by bits.
    #[inline(always)]
    pub(super) fn has(&mut self, batch: &Batch, i: usize, values: (u8, u16)) {
        let run = batch.items[i].run;
        if self.run != run || i < self.first || i + 1 >= self.end {
            self.begin(batch, i, values);
        }
    }

    /// How many executions it has behind number `i`.
    #[inline(always)]
    pub(super) fn behind(&self, i: usize) -> usize {
        self.end.saturating_sub(i + 1)
    }

    /// Are those many enough to be swept, and not known not to be such?
    #[inline(always)]
    pub(super) fn is_long(&self, i: usize) -> bool {
        self.behind(i) >= LONG && !self.unswept
    }

    /// By how much the value in `slot` grows from one execution to the next; none grows in a slot that is none.
    #[inline(always)]
    pub(super) fn stride(&self, slot: u16) -> u64 {
        self.strides.get(usize::from(slot)).copied().unwrap_or(0)
    }

    /// Has the value in `slot` no constant stride?
    #[inline(always)]
    pub(super) fn is_free(&self, slot: u16) -> bool {
        u32::from(slot) < u16::BITS && self.free >> slot & 1 != 0
    }

    #[inline(never)]
    fn begin(&mut self, batch: &Batch, i: usize, (slots, stored): (u8, u16)) {
        // Of few values, as most loops have, each round is made without a loop over them.
        match usize::from(slots).min(MOST) {
            1 => self.begin_of(batch, i, 1, stored),
            2 => self.begin_of(batch, i, 2, stored),
            3 => self.begin_of(batch, i, 3, stored),
            4 => self.begin_of(batch, i, 4, stored),
            5 => self.begin_of(batch, i, 5, stored),
            6 => self.begin_of(batch, i, 6, stored),
            7 => self.begin_of(batch, i, 7, stored),
            8 => self.begin_of(batch, i, 8, stored),
            more => self.begin_of(batch, i, more, stored),
        }
    }

    /// With so many values, those that stores are made of by bits.
    #[inline(always)]
    fn begin_of(&mut self, batch: &Batch, i: usize, slots: usize, stored: u16) {
        let run = batch.items[i].run;
        (self.run, self.first, self.end, self.free) = (run, i, i + 1, 0);
        self.unswept = false;
        let of = |item| values(&batch.words, item).get(..slots);
        let Some(mut last) = of(&batch.items[i]) else {
            return;
        };
        // All bits where a value is to have its stride.
        let mut bound = [u64::MAX; MOST];
        for (number, item) in batch.items[i + 1..].iter().enumerate() {
            if item.run != run {
                return;
            }
            let Some(next) = of(item) else {
                return;
            };
            if number == 0 {
                for ((stride, next), last) in self.strides.iter_mut().zip(next).zip(last) {
                    *stride = next.wrapping_sub(*last);
                }
            }
            let off = |(((next, last), stride), bound): (((&u64, &u64), &u64), &u64)| {
                (next.wrapping_sub(*last) ^ stride) & bound
            };
            let all = next.iter().zip(last).zip(&self.strides).zip(&bound);
            // Without a branch for each value: mostly none is off.
            if all.clone().fold(0, |sum, value| sum | off(value)) != 0 {
                let off = all.map(|value| off(value) != 0).enumerate();
                let bits = off.fold(0, |bits, (slot, off)| bits | u16::from(off) << slot);
                if number >= TRIED || stored & bits != 0 {
                    return;
                }
                self.free |= bits;
                for (slot, bound) in bound.iter_mut().enumerate() {
                    *bound &= (u64::from(self.free >> slot) & 1).wrapping_sub(1);
                }
            }
            last = next;
            self.end += 1;
        }
    }
}
