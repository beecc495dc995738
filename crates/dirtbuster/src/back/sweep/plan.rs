//! The streams of a row: where its loads and stores go.

use super::super::execution::Execution;
use super::super::quiet::values;
use super::{MOST, Stream, Sweep};
use crate::access::Op;
use crate::batch::{Batch, word};
use crate::lines::LINE;
use crate::steps::Step;

/// By how much the address of a load grows or falls from one execution to the next, at most.
const FARTHEST: u64 = 1024;

impl Execution<'_> {
    /// Finds the row's streams. False: of some it cannot be told where they go, or they are not such as go on side by side.
    pub(super) fn plan(&mut self, batch: &Batch, i: usize) -> bool {
        let item = &batch.items[i];
        let values = values(&batch.words, item);
        let (first, end) = self.thread.runs[item.run as usize];
        let (row, sweep) = (&self.looked.row, &mut self.looked.sweep);
        (sweep.end, sweep.load_count, sweep.store_count) = (row.behind(i), 0, 0);
        (sweep.looked_at, sweep.epochs) = (0, self.memory.epochs);
        for at in first as usize..end as usize {
            let step = &self.thread.steps[at];
            let addr = word(values, step.slot).wrapping_add(step.disp);
            let stream = Stream::new(step, at, (addr, row.stride(step.slot)));
            if row.is_free(step.slot) || !sweep.takes(step.op, stream) {
                return false;
            }
        }
        if !sweep.stores_are_apart() {
            return false;
        }
        sweep.relate(&self.thread.steps);
        sweep.advances = sweep.can_advance(&self.thread.steps);
        for number in 0..sweep.store_count {
            self.turn(number, 0);
        }
        true
    }
}

impl Stream {
    fn new(step: &Step, number: usize, (addr, stride): (u64, u64)) -> Self {
        Self {
            step: number,
            addr,
            stride,
            size: step.size.into(),
            next: 1,
            ahead_of: 0,
            first: step.first,
            end: step.end,
            is_lone: step.loads == 1,
            meets: false,
        }
    }
}

impl Sweep {
    /// Takes a stream in. False: there are too many, it is a store that does not go up right behind itself, or a load behind a store or
    /// one that comes to another page every few executions, so that it is to be looked at as often.
    fn takes(&mut self, op: Op, stream: Stream) -> bool {
        let is_load = op == Op::Load;
        let fits = match is_load {
            true => self.store_count == 0 && (stream.stride as i64).unsigned_abs() <= FARTHEST,
            false => stream.stride == stream.size && stream.size > 0,
        };
        let (all, count) = match is_load {
            true => (&mut self.loads, &mut self.load_count),
            false => (&mut self.stores, &mut self.store_count),
        };
        if !fits || *count == MOST {
            return false;
        }
        all[*count] = stream;
        *count += 1;
        true
    }

    /// Do the stores stay some lines apart from each other?
    fn stores_are_apart(&self) -> bool {
        let near = |a: &Stream, b: &Stream| {
            let (from, to) = ((a.addr, b.addr), (a.at(self.end), b.at(self.end)));
            let apart = from.0.abs_diff(from.1).min(to.0.abs_diff(to.1));
            let crosses = (from.0 < from.1) != (to.0 < to.1);
            crosses || apart < 2 * LINE + a.size + b.size
        };
        let stores = self.stores();
        !(1..stores.len()).any(|n| stores[..n].iter().any(|other| near(other, &stores[n])))
    }

    /// Which loads read ahead of stores, and which meet them.
    fn relate(&mut self, steps: &[Step]) {
        let end = self.end;
        let stores = &self.stores[..self.store_count];
        let loads = &mut self.loads[..self.load_count];
        // As they are made where several find something.
        loads.sort_by_key(|load| (load.first, steps[load.step].own.trailing_zeros()));
        for load in loads {
            let ahead = stores.iter().position(|s| {
                let room = s.size.checked_sub(load.size);
                load.stride == s.stride
                    && room.is_some_and(|room| load.addr.wrapping_sub(s.addr) <= room)
            });
            load.ahead_of = ahead.map_or(0, |number| number + 1);
            let (first, last) = load.lines(end);
            load.meets = stores.iter().any(|s| {
                let lines = s.lines(end);
                first <= lines.1 && lines.0 <= last
            });
        }
    }

    /// Is there one store, of a line at most, and is at most one load ahead of it, of the very bytes?
    fn can_advance(&self, steps: &[Step]) -> bool {
        let [store] = self.stores() else {
            return false;
        };
        let mut ahead = self.loads().iter().filter(|l| l.ahead_of != 0);
        let first = ahead.next();
        let is_one = first.is_none_or(|load| {
            let own = steps[load.step].own;
            let same = (load.addr, load.size) == (store.addr, store.size);
            same && own.count_ones() == 1 && own >> 63 == 0
        });
        let behind = store.size * (self.end as u64 + 2);
        let is_in_reach = store.addr.checked_add(behind).is_some();
        is_one && ahead.next().is_none() && store.size <= LINE && is_in_reach
    }
}
