//! Executions that change nothing but which bytes of their lines are written.
//!
//! A scalar loop writes the same lines for several rounds. In those behind the first ones its stores go on in their streaks'
//! lines, and its loads find nothing that is to be looked at. That is known without making each: the values that references are
//! made of go on by constant strides (`rows`), so it follows from them how many rounds it takes until a store leaves its line or a
//! load comes to a line that was written and not read. What so many executions leave behind is then written down once.

use std::ops::Range;

use prestore_trace::block::NO_SLOT;

use super::BackThread;
use super::rows::Row;
use super::sweep::Sweep;
use crate::access::{FOREIGN, Op};
use crate::batch::{Batch, Item, word};
use crate::fences::{APART, waits_from};
use crate::lines::{LINE, bits_of};
use crate::memory::Memory;
use crate::steps::Step;

/// Values, and writes, of blocks that are tried, at most.
pub(super) const MOST: usize = 16;

/// Tries in vain after which one in [`RARELY`] executions is tried.
const PATIENCE: u8 = 8;
const RARELY: u8 = 32;

/// What is known of a run before it is executed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    /// All its steps are plain loads and tracked stores, and not too many.
    possible: bool,
    /// Values that it is made of, and which of them stores are: a bit each.
    slots: u8,
    stored: u16,
    in_vain: u8,
    wait: u8,
}

impl Quiet {
    pub(super) fn new(steps: &[Step]) -> Self {
        let plain = |s: &Step| match s.op {
            Op::Load => true,
            Op::Store => s.streak != FOREIGN,
            _ => false,
        };
        let slots = (steps.iter().filter(|s| s.slot != NO_SLOT)).map(|s| usize::from(s.slot) + 1);
        let slots = slots.max().unwrap_or(0);
        let stores = steps.iter().filter(|s| s.op == Op::Store);
        let few = slots <= MOST && stores.clone().count() <= MOST;
        let stored = stores.filter(|s| s.slot != NO_SLOT);
        let possible = !steps.is_empty() && few && steps.iter().all(plain);
        Self {
            possible,
            slots: slots.min(MOST) as u8,
            stored: stored.fold(0, |bits, s| {
                bits | 1u16.checked_shl(s.slot.into()).unwrap_or(0)
            }),
            ..Self::default()
        }
    }

    /// Is the next execution to be tried?
    #[inline(always)]
    fn is_tried(&mut self) -> bool {
        if self.wait > 0 {
            self.wait -= 1;
            return false;
        }
        self.possible
    }

    pub(super) fn ended(&mut self, executions: usize) {
        if executions > 1 {
            self.in_vain = 0;
            return;
        }
        self.in_vain = (self.in_vain + 1).min(PATIENCE);
        if self.in_vain == PATIENCE {
            self.wait = RARELY;
        }
    }
}

/// A store, and the bytes of its line that are written.
#[derive(Clone, Copy, Debug, Default)]
struct Store {
    state: u32,
    /// The first of the stores to its line, which has the mask of all.
    line: usize,
    before: u64,
    mask: u64,
    /// Where in its line, and by how much the next one is farther up.
    from: u64,
    stride: u64,
    bytes: u64,
}

/// What came of an attempt.
pub(super) enum Tried {
    /// So many executions were made.
    Made(usize),
    /// None yet: the loads that the next one begins with find something.
    LoadsFirst,
}

/// The row that executions are in, and the stores of the one that is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub(super) row: Row,
    pub(super) sweep: Sweep,
    stores: [Store; MOST],
    count: usize,
}

impl Looked {
    /// Is the execution behind number `i` one of a row, and to be tried?
    #[inline(always)]
    pub(super) fn is_in_row(&mut self, thread: &mut BackThread, batch: &Batch, i: usize) -> bool {
        let run = batch.items[i].run;
        if batch.items.get(i + 1).is_none_or(|next| next.run != run) {
            return false;
        }
        let quiet = &mut thread.quiet[run as usize];
        let is_tried = quiet.is_tried();
        if is_tried {
            self.row.has(batch, i, (quiet.slots, quiet.stored));
        }
        is_tried
    }

    /// How many of the executions behind number `i` change nothing but their lines' bytes; they are made. The first `loaded` of them have
    /// made the loads that they begin with.
    #[inline(never)]
    pub(super) fn try_row(
        &mut self,
        thread: &mut BackThread,
        memory: &mut Memory,
        (batch, i): (&Batch, usize),
        loaded: usize,
    ) -> Tried {
        let item = &batch.items[i];
        let values = values(&batch.words, item);
        let run = item.run as usize;
        let (first, end) = thread.runs[run];
        let steps = first as usize..end as usize;
        let mut most = self.row.behind(i);
        while most > 0 && batch.items[i + most].before - item.before > APART {
            most /= 2;
        }
        let mut made = 0;
        if most > loaded {
            let loads = &mut thread.steps[steps.clone()];
            let found = self.loads_find_nothing(loads, memory, (batch, i, loaded), most as u64);
            let Some(most) = found else {
                return Tried::LoadsFirst;
            };
            let most = self.stores_go_on(thread, steps, memory, values, most);
            made = self.write(most) as usize;
        }
        if made > 0 {
            self.leave(thread, memory, &batch.items[i + made], &batch.words, made);
        }
        thread.quiet[run].ended(made);
        Tried::Made(made)
    }

    /// For how many of the `most` executions behind the one with these values do the stores go on in their lines?
    fn stores_go_on(
        &mut self,
        thread: &BackThread,
        steps: Range<usize>,
        memory: &Memory,
        values: &[u64],
        mut most: u64,
    ) -> u64 {
        self.count = 0;
        for step in thread.steps[steps].iter().filter(|s| s.op == Op::Store) {
            let addr = word(values, step.slot).wrapping_add(step.disp);
            let size = u64::from(step.size);
            let (down, room) = (addr % LINE, LINE - addr % LINE);
            let stride = self.row.stride(step.slot);
            if size > room || stride == 0 {
                return 0;
            }
            most = most.min(times(stride, down, room - size));
            let streak = &thread.streaks[step.streak as usize];
            if most == 0 || !streak.is_pending(&thread.pending) {
                return 0;
            }
            let Some(state) = memory.goes_on(streak, addr) else {
                return 0;
            };
            let number = self.count;
            let same = self.stores[..number].iter().position(|s| s.state == state);
            let mask = memory.lines.states[state as usize].mask;
            self.stores[number] = Store {
                state,
                line: same.unwrap_or(number),
                before: mask,
                mask,
                from: down,
                stride,
                bytes: bits_of(0, size),
            };
            self.count += 1;
        }
        most
    }

    /// For how many of the `most` executions behind number `i` do the loads find nothing? `None`: one that executions begin with
    /// does already, and the first one has not made those.
    fn loads_find_nothing(
        &self,
        steps: &mut [Step],
        memory: &mut Memory,
        (batch, i, loaded): (&Batch, usize, usize),
        mut most: u64,
    ) -> Option<u64> {
        let of = values(&batch.words, &batch.items[i + loaded]);
        let leading = steps.first().map_or(0, |s| usize::from(s.loads));
        for (at, step) in steps.iter_mut().enumerate() {
            if step.op != Op::Load {
                continue;
            }
            if most == 0 {
                return Some(0);
            }
            if self.row.is_free(step.slot) {
                let behind = batch.items[i + 1..].iter().take(most as usize);
                let loads = behind.take_while(|next| {
                    let addr = word(values(&batch.words, next), step.slot).wrapping_add(step.disp);
                    memory.unread(&mut step.hint, addr, step.size.into()) == 0
                });
                most = loads.count() as u64;
                continue;
            }
            let addr = word(of, step.slot).wrapping_add(step.disp);
            let Some((down, up)) = memory.nothing_around(&mut step.hint, addr, step.size) else {
                return (loaded > 0 || at >= leading).then_some(0);
            };
            let more = times(self.row.stride(step.slot), down, up);
            most = most.min(more.saturating_add(loaded as u64));
        }
        Some(most)
    }

    /// Of the `most` executions behind, how many write new bytes; they are written.
    fn write(&mut self, most: u64) -> u64 {
        if self.count == 0 || most == 0 || self.write_side_by_side(most) {
            return most;
        }
        for store in &mut self.stores[..self.count] {
            store.mask = store.before;
        }
        for made in 0..most {
            for at in 0..self.count {
                let store = &mut self.stores[at];
                store.from = store.from.wrapping_add(store.stride);
                let (bits, line) = (store.bytes << (store.from % LINE), store.line);
                if self.stores[line].mask & bits != 0 {
                    // Nor are those before it in this execution made.
                    for before in 0..at {
                        let Store {
                            bytes, from, line, ..
                        } = self.stores[before];
                        self.stores[line].mask &= !(bytes << (from % LINE));
                    }
                    return made;
                }
                self.stores[line].mask |= bits;
            }
        }
        most
    }

    /// The same if each store goes on right beside what it wrote, and none of all these bytes was written; false: it is not so.
    fn write_side_by_side(&mut self, most: u64) -> bool {
        for at in 0..self.count {
            let Store {
                from,
                stride,
                bytes,
                line,
                ..
            } = self.stores[at];
            let size = u64::from(bytes.count_ones());
            let lowest = match stride {
                up if up == size => from + size,
                down if down == size.wrapping_neg() => from - most * size,
                _ => return false,
            };
            let bits = bits_of(lowest, most * size);
            if self.stores[line].mask & bits != 0 {
                return false;
            }
            self.stores[line].mask |= bits;
        }
        true
    }

    /// Writes down what `made` executions left, the last of them `item`.
    fn leave(
        &self,
        thread: &mut BackThread,
        memory: &mut Memory,
        item: &Item,
        words: &[u64],
        made: usize,
    ) {
        let values = values(words, item);
        let (first, end) = thread.runs[item.run as usize];
        let steps = &thread.steps[first as usize..end as usize];
        for (step, store) in (steps.iter().filter(|s| s.op == Op::Store)).zip(&self.stores) {
            let now = item.before + u64::from(step.instr);
            let streak = &mut thread.streaks[step.streak as usize];
            let last = word(values, step.slot).wrapping_add(step.disp);
            // Where in the line, all stores to it taken together: they belong to the same context.
            let line = &self.stores[store.line];
            let (fresh, base) = (line.mask & !line.before, last & !(LINE - 1));
            let lo = base + u64::from(fresh.trailing_zeros());
            let hi = base + LINE - u64::from(fresh.leading_zeros());
            let written = (lo, hi, made as u64 * u64::from(step.size));
            memory.went_on(streak, line.mask, last, written, now);
            streak.touch(&mut thread.pending, waits_from(now, 0));
        }
    }
}

/// How often something can go on by `stride` that may go so far down, and up.
#[inline(always)]
pub(super) fn times(stride: u64, down: u64, up: u64) -> u64 {
    match stride as i64 {
        0 => u64::MAX,
        1.. => up / stride,
        _ => down / stride.wrapping_neg(),
    }
}

#[inline(always)]
pub(super) fn values<'a>(words: &'a [u64], item: &Item) -> &'a [u64] {
    words.get(item.at as usize..).unwrap_or(&[])
}
