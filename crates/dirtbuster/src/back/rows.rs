//! Executions of one block, one after the other, whose values go on by constant strides.

use super::quiet::{MOST, values};
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
        let run = batch.items[i].run;
        (self.run, self.first, self.end, self.free) = (run, i, i + 1, 0);
        let slots = usize::from(slots).min(MOST);
        let mut last = [0; MOST];
        let mut bound = [0; MOST];
        let mut count = 0;
        let Some(of) = values(&batch.words, &batch.items[i]).get(..slots) else {
            return;
        };
        last[..slots].copy_from_slice(of);
        for (number, item) in batch.items[i + 1..].iter().enumerate() {
            let Some(of) = values(&batch.words, item).get(..slots) else {
                return;
            };
            if item.run != run {
                return;
            }
            if number == 0 {
                for slot in 0..slots {
                    self.strides[slot] = of[slot].wrapping_sub(last[slot]);
                    bound[slot] = slot;
                }
                count = slots;
            } else {
                let mut at = 0;
                while at < count {
                    let slot = bound[at] % MOST;
                    if of[slot].wrapping_sub(last[slot]) == self.strides[slot] {
                        at += 1;
                        continue;
                    }
                    if number >= TRIED || stored >> slot & 1 != 0 {
                        return;
                    }
                    self.free |= 1 << slot;
                    count -= 1;
                    bound[at] = bound[count];
                }
            }
            last[..slots].copy_from_slice(of);
            self.end += 1;
        }
    }
}
