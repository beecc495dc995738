//! Executions that change nothing but which bytes of their lines are written.
//!
//! A scalar loop writes the same lines for several rounds. In those behind the first ones its stores go on in their streaks'
//! lines, and its loads find nothing that is to be looked at. That is known without making each step: the values that
//! references are made of stay within the spans in which no store leaves its line and no load comes to a line that was written
//! and not read, and the stores' bytes are new. What so many executions leave behind is then written down once.

use std::ops::Range;

use super::BackThread;
use crate::batch::{Item, word};
use crate::fences::{HORIZON, waits_from};
use crate::lines::{LINE, bits_of};
use crate::memory::Memory;
use crate::runs::{FOREIGN, Op};
use crate::steps::Step;

/// Values, and writes, of blocks that are tried.
const MOST: usize = 16;

/// Instructions from the first execution to the last, at most: less than what makes two writes of one.
const APART: u64 = HORIZON / 2;

/// Tries in vain after which one in [`RARELY`] executions is tried.
const PATIENCE: u8 = 8;
const RARELY: u8 = 32;

/// What is known of a run before it is executed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    /// All its steps are plain loads and tracked stores, and not too many.
    possible: bool,
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
        let stores = steps.iter().filter(|s| s.op == Op::Store).count();
        Self {
            possible: !steps.is_empty() && stores <= MOST && steps.iter().all(plain),
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

    fn ended(&mut self, executions: usize) {
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

/// The values of one slot with which stores stay in their lines and loads find nothing.
#[derive(Clone, Copy, Debug)]
struct Span {
    slot: u16,
    lowest: u64,
    width: u64,
}

impl Span {
    #[inline(always)]
    fn has(&self, values: &[u64]) -> bool {
        word(values, self.slot).wrapping_sub(self.lowest) <= self.width
    }
}

/// A store, and the bytes of its line that are written.
#[derive(Clone, Copy, Debug)]
struct Store {
    slot: u16,
    disp: u64,
    size: u64,
    instr: u16,
    streak: u32,
    state: u32,
    /// The first of the stores to its line, which has the mask of all.
    line: usize,
    mask: u64,
    lo: u64,
    hi: u64,
    last: u64,
}

/// Spans and stores of the execution that is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    spans: Vec<Span>,
    stores: Vec<Store>,
}

impl Looked {
    /// How many of the executions `behind` the one of `item` change nothing but their lines' bytes; they are made.
    #[inline(always)]
    pub(super) fn go_on(
        &mut self,
        thread: &mut BackThread,
        memory: &mut Memory,
        words: &[u64],
        (item, behind): (&Item, &[Item]),
    ) -> usize {
        let run = item.run as usize;
        let Some(next) = behind.first().filter(|next| next.run == item.run) else {
            return 0;
        };
        if !thread.quiet[run].is_tried() {
            return 0;
        }
        let values = (values(words, item), values(words, next));
        let made = if self.is_quiet(thread, memory, run, values) {
            self.count(words, item, behind)
        } else {
            0
        };
        if let Some(last) = made.checked_sub(1).and_then(|last| behind.get(last)) {
            self.leave(thread, memory, last.before, made as u64);
        }
        thread.quiet[run].ended(made);
        made
    }

    /// Is it seen from an execution with these values, and the next one's, that it may be quiet behind it?
    #[inline(never)]
    fn is_quiet(
        &mut self,
        thread: &mut BackThread,
        memory: &mut Memory,
        run: usize,
        values: (&[u64], &[u64]),
    ) -> bool {
        let (first, end) = thread.runs[run];
        let steps = first as usize..end as usize;
        self.stores_go_on(thread, steps.clone(), memory, values)
            && self.loads_find_nothing(&mut thread.steps[steps], memory, values.0)
    }

    /// Do the stores go on, and would they stay in their lines with the values of the execution behind?
    fn stores_go_on(
        &mut self,
        thread: &BackThread,
        steps: Range<usize>,
        memory: &Memory,
        (values, next): (&[u64], &[u64]),
    ) -> bool {
        self.spans.clear();
        self.stores.clear();
        for step in thread.steps[steps].iter().filter(|s| s.op == Op::Store) {
            let value = word(values, step.slot);
            let addr = value.wrapping_add(step.disp);
            let size = u64::from(step.size);
            let (down, room) = (addr % LINE, LINE - addr % LINE);
            let then = word(next, step.slot).wrapping_add(step.disp);
            if size > room || then / LINE != addr / LINE {
                return false;
            }
            if !self.narrow(step.slot, value, down, room - size) {
                return false;
            }
            let streak = &thread.streaks[step.streak as usize];
            let Some(state) = memory.goes_on(streak, addr) else {
                return false;
            };
            if !streak.is_pending(&thread.pending) {
                return false;
            }
            let number = self.stores.len();
            let same = self.stores.iter().position(|s| s.state == state);
            self.stores.push(Store {
                slot: step.slot,
                disp: step.disp,
                size,
                instr: step.instr,
                streak: step.streak,
                state,
                line: same.unwrap_or(number),
                mask: memory.lines.states[state as usize].mask,
                lo: u64::MAX,
                hi: 0,
                last: 0,
            });
        }
        true
    }

    /// Do the loads find nothing, and how far from their places would they?
    fn loads_find_nothing(
        &mut self,
        steps: &mut [Step],
        memory: &mut Memory,
        values: &[u64],
    ) -> bool {
        for step in steps.iter_mut().filter(|s| s.op == Op::Load) {
            let value = word(values, step.slot);
            let addr = value.wrapping_add(step.disp);
            let Some((down, up)) = memory.nothing_around(&mut step.hint, addr, step.size) else {
                return false;
            };
            if !self.narrow(step.slot, value, down, up) {
                return false;
            }
        }
        true
    }

    /// The slot, which has `value`, may go down and up as far as said; false: there are too many.
    fn narrow(&mut self, slot: u16, value: u64, down: u64, up: u64) -> bool {
        let Some(span) = self.spans.iter_mut().find(|s| s.slot == slot) else {
            self.spans.push(Span {
                slot,
                lowest: value.wrapping_sub(down),
                width: down + up,
            });
            return self.spans.len() <= MOST;
        };
        let below = value.wrapping_sub(span.lowest);
        let above = span.width - below;
        span.lowest = value.wrapping_sub(below.min(down));
        span.width = below.min(down) + above.min(up);
        true
    }

    /// How many executions there are in the spans whose stores write new bytes.
    #[inline(never)]
    fn count(&mut self, words: &[u64], item: &Item, behind: &[Item]) -> usize {
        let mut made = 0;
        for next in behind {
            let near = next.run == item.run && next.before - item.before <= APART;
            let values = values(words, next);
            if !near || !self.spans.iter().all(|s| s.has(values)) || !self.write(values) {
                break;
            }
            made += 1;
        }
        made
    }

    /// The stores of an execution; false: some of their bytes were written before, and nothing is changed.
    fn write(&mut self, values: &[u64]) -> bool {
        for at in 0..self.stores.len() {
            let store = self.stores[at];
            let bits = bits_of(store.addr(values), store.size);
            if self.stores[store.line].mask & bits != 0 {
                for before in 0..at {
                    let store = self.stores[before];
                    self.stores[store.line].mask &= !bits_of(store.addr(values), store.size);
                }
                return false;
            }
            self.stores[store.line].mask |= bits;
        }
        for store in &mut self.stores {
            let addr = store.addr(values);
            (store.lo, store.hi) = (store.lo.min(addr), store.hi.max(addr + store.size));
            store.last = addr;
        }
        true
    }

    /// Writes down what `made` executions left, the last of them behind `before` instructions.
    fn leave(&self, thread: &mut BackThread, memory: &mut Memory, before: u64, made: u64) {
        for store in &self.stores {
            let now = before + u64::from(store.instr);
            let streak = &mut thread.streaks[store.streak as usize];
            let written = (store.lo, store.hi, made * store.size);
            memory.went_on(
                streak,
                self.stores[store.line].mask,
                store.last,
                written,
                now,
            );
            streak.touch(&mut thread.pending, waits_from(now, 0));
        }
    }
}

impl Store {
    #[inline(always)]
    fn addr(&self, values: &[u64]) -> u64 {
        word(values, self.slot).wrapping_add(self.disp)
    }
}

#[inline(always)]
pub(super) fn values<'a>(words: &'a [u64], item: &Item) -> &'a [u64] {
    words.get(item.at as usize..).unwrap_or(&[])
}
