//! What the stores of a row do: they go on in their lines, and come to others.

use super::super::execution::Execution;
use super::super::quiet::values;
use super::{MOST, Stream};
use crate::batch::Batch;
use crate::fences::{APART, waits_from};
use crate::lines::{LINE, LINE_SHIFT, bits_of};
use crate::memory::Ahead;

impl Execution<'_> {
    /// Makes executions behind number `made` up to `last` in which nothing but the only store comes to other lines, and says up to which one.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        batch: &Batch,
        i: usize,
        (made, last): (usize, usize),
    ) -> usize {
        let sweep = &self.looked.sweep;
        let [store, ..] = &sweep.stores;
        let step = &self.thread.steps[store.step];
        let streak = &mut self.thread.streaks[step.streak as usize];
        let left = streak.line();
        let lines = (left, (store.at(last) + store.size) >> LINE_SHIFT);
        let loads = sweep.loads();
        let meets = |l: &Stream| l.meets && l.ahead_of == 0;
        let mut meeting = loads.iter().filter(|l| meets(l));
        if meeting.any(|l| l.touches(lines, (made + 1, last))) {
            return made;
        }
        let read = loads.iter().find(|l| l.ahead_of != 0).map(|l| {
            let step = &self.thread.steps[l.step];
            let access = step.first + step.own.trailing_zeros();
            self.thread.accesses[access as usize].instr.into()
        });
        let ahead = Ahead {
            items: &batch.items[i..],
            addr: store.addr,
            size: store.size,
            instr: step.instr.into(),
            read,
            thread: self.index,
            last,
        };
        let pending = &mut self.thread.pending;
        let advanced = self.memory.advance(streak, pending, &ahead, made);
        if advanced > made {
            self.enter(0, left, advanced);
            self.turn(0, advanced);
        }
        advanced
    }

    /// Makes the executions behind number `made` of the row up to `last`, in which stores write new bytes of the lines that they are in
    /// and loads find nothing. False: it is not so, and nothing is done.
    #[inline(always)]
    pub(super) fn go_on(&mut self, batch: &Batch, i: usize, (made, last): (usize, usize)) -> bool {
        let number = (last - made) as u64;
        if number == 0 {
            return true;
        }
        let before = batch.items[i + last].before;
        if before - batch.items[i + made].before > APART {
            return false;
        }
        let sweep = &self.looked.sweep;
        let mut masks = [0; MOST];
        for (store, mask) in sweep.stores().iter().zip(&mut masks) {
            let step = &self.thread.steps[store.step];
            let streak = &self.thread.streaks[step.streak as usize];
            let lo = store.at(made + 1);
            if lo % LINE + number * store.size > LINE || !streak.is_pending(&self.thread.pending) {
                return false;
            }
            let Some(state) = self.memory.goes_on(streak, lo) else {
                return false;
            };
            let written = self.memory.lines.states[state as usize].mask;
            let bits = bits_of(lo, number * store.size);
            if written & bits != 0 {
                return false;
            }
            *mask = written | bits;
        }
        for (store, mask) in sweep.stores().iter().zip(masks) {
            let step = &self.thread.steps[store.step];
            let streak = &mut self.thread.streaks[step.streak as usize];
            let (lo, addr) = (store.at(made + 1), store.at(last));
            let written = (lo, addr + store.size, number * store.size);
            let now = before + u64::from(step.instr);
            self.memory.went_on(streak, mask, addr, written, now);
            streak.touch(&mut self.thread.pending, waits_from(now, 0));
        }
        true
    }

    /// Makes an execution step by step.
    pub(super) fn make(&mut self, batch: &Batch, i: usize, execution: usize) {
        let item = &batch.items[i + execution];
        let values = values(&batch.words, item);
        let (first, end) = self.thread.runs[item.run as usize];
        let mut lines = [0; MOST];
        for (number, line) in lines
            .iter_mut()
            .enumerate()
            .take(self.looked.sweep.store_count)
        {
            *line = self.line_of(number);
        }
        let is_looked_at = execution <= self.looked.sweep.looked_at;
        let (mut at, mut group) = (first as usize, 0);
        while at < end as usize {
            let loads = usize::from(self.thread.steps[at].loads);
            if loads == 0 {
                self.step(at, item.before, values);
            } else if !is_looked_at {
                group = self.look_at(batch, i, (group, execution), true);
            }
            at += loads.max(1);
        }
        self.looked(execution);
        let stores = self.looked.sweep.store_count;
        for (number, line) in lines.into_iter().enumerate().take(stores) {
            self.enter(number, line, execution);
            self.turn(number, execution);
        }
    }

    /// The line that a store is at.
    #[inline(always)]
    pub(super) fn line_of(&self, number: usize) -> u64 {
        let step = &self.thread.steps[self.looked.sweep.stores[number].step];
        self.thread.streaks[step.streak as usize].line()
    }

    /// In this execution a store was made, which had been at the line `left`, and is at another one, or has begun to write it anew. They
    /// are to be looked at again.
    #[inline(always)]
    pub(super) fn enter(&mut self, number: usize, left: u64, execution: usize) {
        let line = self.line_of(number);
        let lines = (left.min(line), left.max(line));
        let sweep = &mut self.looked.sweep;
        let end = sweep.end;
        for load in sweep.loads_mut() {
            if load.ahead_of == number + 1
                || load.meets && load.touches(lines, (execution + 1, end))
            {
                load.next = execution + 1;
            }
        }
    }

    /// Behind this execution: when does a store come to another line?
    #[inline(always)]
    pub(super) fn turn(&mut self, number: usize, execution: usize) {
        let line = self.line_of(number);
        let store = &mut self.looked.sweep.stores[number];
        let addr = store.at(execution + 1);
        let within = match addr >> LINE_SHIFT == line {
            true => (LINE - addr % LINE) / store.size,
            false => 0,
        };
        store.next = execution + 1 + within as usize;
    }
}
