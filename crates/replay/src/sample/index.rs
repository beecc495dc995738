//! Where in a recording which operation is, to within a stored block.

use std::ops::ControlFlow;

use prestore_trace::container::{StoredBlock, Trace};
use rustc_hash::FxHashMap;

use super::cut::Cuts;
use super::order::{Order, Published};
use crate::HandOffs;
use crate::lanes::Whose;
use crate::marks::{Mark, Marks};

/// A stored block of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Which of its core's threads, and which of the thread's blocks.
    pub thread: usize,
    pub block: usize,
    /// When it began.
    pub ticks: u64,
    /// Events of the thread before it, those left out included.
    pub events: u64,
    /// Operations of the core before it, long accesses counted by their lines ([`prestore_trace::container::further_lines`]).
    pub ops: u64,
    /// Instructions of the thread before it.
    pub instrs: u64,
}

/// What one core does.
#[derive(Debug, Default)]
struct CoreIndex {
    entries: Vec<Entry>,
    /// When it ends, and its operations in all.
    end: u64,
    ops: u64,
    /// Its instructions in all; does it have one thread, of which nothing is left out?
    instrs: u64,
    is_whole: bool,
}

/// All cores.
#[derive(Debug)]
pub(crate) struct Index {
    cores: Vec<CoreIndex>,
    /// By hand-off.
    published: FxHashMap<u32, Published>,
    cuts: Cuts,
}

impl Index {
    /// Of `cores`, each with its threads one behind the other.
    pub fn new<'a>(
        trace: &Trace,
        cores: impl Iterator<Item = &'a [Whose]>,
        hand_offs: &HandOffs,
    ) -> Self {
        let mut order = Order::default();
        let cores = cores.enumerate().map(|(number, threads)| {
            let mut core = CoreIndex::default();
            for (place, &(thread, _)) in threads.iter().enumerate() {
                let marks = hand_offs.marks(thread);
                order.add((number, place), core.ops, (trace.blocks(thread), marks));
                core.add(place, trace.blocks(thread), marks);
            }
            core
        });
        let cores: Vec<_> = cores.collect();
        let cuts = Cuts::new(cores.len(), &order.waits, &order.published);
        Self {
            cores,
            published: order.published,
            cuts,
        }
    }

    /// Operations of all threads.
    pub fn ops(&self) -> u64 {
        self.cores.iter().map(|c| c.ops).sum()
    }

    /// Instructions of the run, if one thread alone executes it and none are left out.
    pub fn instrs(&self) -> Option<u64> {
        match &self.cores[..] {
            [core] if core.is_whole => Some(core.instrs),
            _ => None,
        }
    }

    /// Operations that each core has done when all together have done `ops`: by the recorded time, taken as even within
    /// a stored block, where none is past what it waited for.
    pub fn at(&self, ops: u64) -> Vec<u64> {
        self.from(&[], ops)
    }

    /// The same where cores have done so many as `done` at least: those that are ahead of the time are met by the others at one when all together
    /// have done `ops`.
    pub fn from(&self, done: &[u64], ops: u64) -> Vec<u64> {
        let mut busy = self.cores.iter().filter(|core| core.ops > 0);
        if let (Some(_), None) = (busy.next(), busy.next()) {
            return self.cores.iter().map(|core| ops.min(core.ops)).collect();
        }
        let starts = self.cores.iter().filter_map(|c| c.entries.first());
        let mut first = starts.map(|e| e.ticks).min().unwrap_or(0);
        let mut last = self.cores.iter().map(|c| c.end).max().unwrap_or(0);
        // The last time at which no more than that were done.
        while first < last {
            let middle = first + (last - first).div_ceil(2);
            if self.at_time(middle, done).iter().sum::<u64>() <= ops {
                first = middle;
            } else {
                last = middle - 1;
            }
        }
        self.at_time(first, done)
    }

    /// Takes cores that have done so many operations each back to where none is past what it waits for.
    pub fn take_back(&self, at: &mut [u64]) {
        self.cuts.take_back(at);
    }

    fn at_time(&self, ticks: u64, done: &[u64]) -> Vec<u64> {
        let done = done.iter().copied().chain(std::iter::repeat(0));
        let places = self.cores.iter().zip(done);
        let mut at: Vec<u64> = places
            .map(|(core, done)| core.at(ticks).max(done))
            .collect();
        self.cuts.close(&mut at);
        at
    }

    /// The last stored block of `core` that begins with `ops` of its operations or less done; `None`: it has none.
    pub fn block(&self, core: usize, ops: u64) -> Option<Entry> {
        let core = &self.cores[core];
        let behind = core.entries.partition_point(|e| e.ops <= ops);
        core.entries.get(behind.saturating_sub(1)).copied()
    }

    /// Operations of `core` before its thread `thread` begins; all of them where there is no such thread.
    pub fn before(&self, core: usize, thread: usize) -> u64 {
        let core = &self.cores[core];
        let first = core.entries.iter().find(|e| e.thread == thread);
        first.map_or(core.ops, |e| e.ops)
    }

    /// Where hand-off `number` is published.
    pub fn published(&self, number: u32) -> Option<Published> {
        self.published.get(&number).copied()
    }
}

impl CoreIndex {
    fn add<'a>(
        &mut self,
        thread: usize,
        blocks: impl Iterator<Item = &'a StoredBlock>,
        marks: &Marks,
    ) {
        let mut left = LeftOut::new(marks);
        let (mut events, mut lines, before) = (0, 0, self.ops);
        for (number, block) in blocks.enumerate() {
            let started = match block.start_ticks {
                0 => block.last_ticks,
                ticks => ticks,
            };
            // Clocks of two processors may differ a little.
            let ticks = started.max(self.entries.last().map_or(0, |e| e.ticks));
            self.entries.push(Entry {
                thread,
                block: number,
                ticks,
                events,
                ops: before + lines + events - left.by(events),
                instrs: block.instrs_before,
            });
            events += block.counts.iter().map(|(_, n)| n).sum::<u64>();
            // Of those left out too: who polls reads no long strings.
            lines += block.further_lines;
            self.ops = before + lines + events - left.by(events);
            self.instrs += block.instrs;
            self.end = self.end.max(block.last_ticks).max(ticks);
        }
        self.is_whole = thread == 0 && self.ops == before + lines + events;
    }

    /// Operations done at `ticks`.
    fn at(&self, ticks: u64) -> u64 {
        let behind = self.entries.partition_point(|e| e.ticks <= ticks);
        let Some(entry) = behind.checked_sub(1).and_then(|i| self.entries.get(i)) else {
            return 0;
        };
        let next = self.entries.get(behind);
        let (end, ops) = next.map_or((self.end, self.ops), |e| (e.ticks, e.ops));
        if ticks >= end {
            return ops;
        }
        let share = u128::from(ticks - entry.ticks) * u128::from(ops - entry.ops);
        entry.ops + (share / u128::from(end - entry.ticks)) as u64
    }
}

/// Counts events that are left out.
pub(super) struct LeftOut<I> {
    marks: I,
    next: Option<(u64, Mark)>,
    /// Open stretches, since which event, and the events of those that have ended.
    open: u32,
    since: u64,
    ended: u64,
}

impl<'a> LeftOut<Box<dyn Iterator<Item = (u64, Mark)> + 'a>> {
    pub(super) fn new(marks: &'a Marks) -> Self {
        let mut marks: Box<dyn Iterator<Item = (u64, Mark)> + 'a> = Box::new(marks.iter());
        let next = marks.next();
        Self {
            marks,
            next,
            open: 0,
            since: 0,
            ended: 0,
        }
    }

    /// Of the first `events`; asked for more each time.
    pub(super) fn by(&mut self, events: u64) -> u64 {
        while self.pass(events).is_continue() {}
        let open = if self.open > 0 {
            events - self.since
        } else {
            0
        };
        self.ended + open
    }

    fn pass(&mut self, events: u64) -> ControlFlow<()> {
        let Some((at, mark)) = self.next.filter(|next| next.0 < events) else {
            return ControlFlow::Break(());
        };
        match mark {
            Mark::Leave => {
                if self.open == 0 {
                    self.since = at;
                }
                self.open += 1;
            }
            Mark::Resume if self.open == 1 => {
                self.open = 0;
                self.ended += at - self.since;
            }
            Mark::Resume => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.next = self.marks.next();
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_between_leaving_and_resuming_are_left_out() {
        let marks = Marks::pack([
            (10, Mark::Leave),
            (15, Mark::Resume),
            (20, Mark::Leave),
            (21, Mark::Leave),
            (23, Mark::Resume),
            (30, Mark::Resume),
        ]);
        let mut left = LeftOut::new(&marks);
        let by: Vec<u64> = [5, 10, 12, 18, 22, 25, 40].map(|n| left.by(n)).into();
        assert_eq!(by, [0, 0, 2, 5, 7, 10, 15]);
    }

    fn core(entries: &[(u64, u64)], end: u64, ops: u64) -> CoreIndex {
        let entries = entries.iter().zip(0..).map(|(&(ticks, ops), block)| Entry {
            thread: 0,
            block,
            ticks,
            events: ops,
            ops,
            instrs: 3 * ops,
        });
        CoreIndex {
            entries: entries.collect(),
            end,
            ops,
            ..CoreIndex::default()
        }
    }

    #[test]
    fn a_place_is_the_same_time_in_all_threads() {
        let index = Index {
            cores: vec![
                core(&[(100, 0), (200, 1000)], 300, 2000),
                core(&[(200, 0)], 300, 500),
            ],
            published: FxHashMap::default(),
            cuts: Cuts::new(2, &[], &FxHashMap::default()),
        };
        assert_eq!(index.ops(), 2500);
        assert_eq!(index.at(0), [0, 0]);
        assert_eq!(index.at(500), [500, 0]);
        assert_eq!(index.at(1750), [1500, 250]);
        assert_eq!(index.at(2500), [2000, 500]);
        assert_eq!(
            index.from(&[100, 300], 1750),
            [1450, 300],
            "core 1 is ahead"
        );
        assert_eq!(index.from(&[1800, 0], 1750), [1800, 0], "core 0 is too far");
        assert_eq!(index.block(0, 999).map(|e| e.block), Some(0));
        assert_eq!(index.block(0, 1000).map(|e| e.block), Some(1));
        assert_eq!(index.before(1, 0), 0);
        assert_eq!(index.before(1, 1), 500);
    }

    #[test]
    fn one_thread_alone_is_found_to_the_operation() {
        let index = Index {
            cores: vec![core(&[(0, 0), (5, 1000)], 5, 2000)],
            published: FxHashMap::default(),
            cuts: Cuts::new(1, &[], &FxHashMap::default()),
        };
        assert_eq!(index.at(777), [777]);
        assert_eq!(index.at(5000), [2000]);
    }
}
