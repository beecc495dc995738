//! What one thread's executions do to its process's memory.

use prestore_trace::replay::each_touch;
use prestore_trace::{EventKind, FenceKind};

use super::BackThread;
use super::quiet::{Looked, Tried, values};
use crate::access::{Access, FOREIGN, Op};
use crate::batch::{Batch, Item, RARE, Rare, word};
use crate::existing::Waits;
use crate::lines::{LINE, LINE_SHIFT, bits_of};
use crate::memory::{Memory, Moment};
use crate::steps::{Step, one_write};

/// Executions that are looked at ahead, so that what they need is in the cache.
const AHEAD: usize = 12;

/// A thread's executions while a batch is taken in.
pub(super) struct Execution<'a> {
    pub(super) index: u32,
    pub(super) thread: &'a mut BackThread,
    pub(super) memory: &'a mut Memory,
    pub(super) looked: Looked,
    /// The execution that is next has made the loads that it begins with.
    pub(super) loaded: bool,
}

impl Execution<'_> {
    pub(super) fn run(&mut self, batch: &Batch) {
        let mut i = 0;
        while let Some(item) = batch.items.get(i) {
            if let Some(next) = batch.items.get(i + AHEAD) {
                self.prefetch(next, &batch.words);
            }
            i += 1 + self.execute(batch, i, item);
        }
    }

    /// Makes number `i`, and says how many behind it were made with it.
    #[inline(always)]
    fn execute(&mut self, batch: &Batch, i: usize, item: &Item) -> usize {
        let values = values(&batch.words, item);
        if item.run >= RARE {
            let rare = batch.rare[(item.run - RARE) as usize];
            self.rare(rare, item.before, values);
            return 0;
        }
        let (first, end) = self.thread.runs[item.run as usize];
        let (mut at, end) = (first as usize, end as usize);
        if std::mem::take(&mut self.loaded) {
            at += usize::from(self.thread.steps[at].loads);
        }
        while at < end {
            at += self.step(at, item.before, values);
        }
        if !self.looked.is_in_row(self.thread, batch, i) {
            return 0;
        }
        if self.looked.row.is_long(i) {
            let made = self.sweep(batch, i);
            if made > 0 {
                self.thread.quiet[item.run as usize].ended(made);
                return made;
            }
            self.looked.row.unswept = true;
        }
        match (self.looked).try_row(self.thread, self.memory, (batch, i), 0) {
            Tried::Made(made) => made,
            Tried::LoadsFirst => self.load_first(batch, i),
        }
    }

    /// Makes the loads that the execution behind number `i` begins with, and says how many behind number `i` were made whole.
    fn load_first(&mut self, batch: &Batch, i: usize) -> usize {
        let next = &batch.items[i + 1];
        let (first, _) = self.thread.runs[next.run as usize];
        self.step(first as usize, next.before, values(&batch.words, next));
        let tried = self.looked.try_row(self.thread, self.memory, (batch, i), 1);
        let made = match tried {
            Tried::Made(made) => made,
            Tried::LoadsFirst => 0,
        };
        self.loaded = made == 0;
        made
    }

    /// Brings the states of the lines that an execution writes into the cache.
    #[inline(always)]
    fn prefetch(&mut self, item: &Item, words: &[u64]) {
        let Some(&(first, end)) = self.thread.written_by.get(item.run as usize) else {
            return;
        };
        if first == end {
            return;
        }
        let values = values(words, item);
        for written in &mut self.thread.written[first as usize..end as usize] {
            written.fetch(&self.memory.lines, values);
        }
    }

    #[cold]
    fn rare(&mut self, rare: Rare, before: u64, values: &[u64]) {
        match rare {
            Rare::Cut { run, executed } => self.cut_short(run, before, values, executed),
            Rare::Allocate {
                addr,
                size,
                site,
                writers,
                mapped,
            } => {
                if mapped {
                    self.memory.lines.renew(addr, size);
                }
                self.memory.allocations.allocate(addr, size, site);
                if let Some(writers) = writers {
                    self.memory.written_by_allocator(addr, size, site, writers);
                }
            }
            Rare::Free { addr } => {
                self.memory.allocations.free(addr);
                self.memory.known.unmap(addr);
            }
            Rare::MapFile { addr, size } => self.memory.known.map_file(addr, size),
            Rare::Gap => self.memory.known.gap(),
            Rare::LeftOut => self.memory.leave_out(self.index, before),
        }
    }

    #[cold]
    #[inline(never)]
    fn cut_short(&mut self, run: u32, before: u64, values: &[u64], executed: u32) {
        let (first, end) = self.thread.runs[run as usize];
        for at in first as usize..end as usize {
            let step = self.thread.steps[at];
            let (first, end) = (step.first as usize, step.end as usize);
            let accesses = &self.thread.accesses[first..end];
            let n = accesses.partition_point(|a| u32::from(a.instr) < executed);
            if n == 0 || step.op == Op::Load && step.loads == 0 {
                continue;
            }
            match step.op {
                Op::Load => self.each_load(first, first + n, before, values),
                op if op.is_store() => {
                    if let Some((n, write)) = one_write(&accesses[..n]) {
                        let mut part = Step {
                            disp: write.disp,
                            size: write.size,
                            instr: accesses[n - 1].instr,
                            ..step
                        };
                        if op == Op::NtStore {
                            self.gather(&part, values);
                        }
                        self.store(&mut part, before, values);
                    }
                }
                _ => self.other(first, before, values),
            }
        }
    }

    /// Makes the step `at` and returns how many were made.
    #[inline(always)]
    pub(super) fn step(&mut self, at: usize, before: u64, values: &[u64]) -> usize {
        let step = &mut self.thread.steps[at];
        match step.op {
            Op::Load => {
                let (n, first, end) = (usize::from(step.loads), step.first, step.end);
                if n == 1 {
                    let addr = word(values, step.slot).wrapping_add(step.disp);
                    let size = u64::from(step.size);
                    if self.memory.unread(&mut step.hint, addr, size) != 0 {
                        // Within one line the first load is the one that counts.
                        let end = if addr % LINE + size <= LINE {
                            first + 1
                        } else {
                            end
                        };
                        self.each_load(first as usize, end as usize, before, values);
                    }
                    return 1;
                }
                let mut found = 0;
                for step in &mut self.thread.steps[at..at + n] {
                    let addr = word(values, step.slot).wrapping_add(step.disp);
                    let size = u64::from(step.size);
                    if self.memory.unread(&mut step.hint, addr, size) != 0 {
                        found |= step.own;
                    }
                }
                if found != 0 {
                    self.found_loads((first as usize, end as usize), found, before, values);
                }
                n
            }
            Op::Store => {
                let addr = word(values, step.slot).wrapping_add(step.disp);
                let size = u64::from(step.size);
                let now = Moment {
                    thread: self.index,
                    now: before + u64::from(step.instr),
                };
                if step.streak == FOREIGN {
                    let hint = &mut step.hint;
                    self.memory.foreign_write(hint, addr, size, now);
                } else {
                    let streak = &mut self.thread.streaks[step.streak as usize];
                    let pending = &mut self.thread.pending;
                    self.memory.write(streak, pending, addr, size, now);
                }
                1
            }
            Op::NtStore => {
                let mut step = *step;
                self.gather(&step, values);
                self.store(&mut step, before, values);
                1
            }
            _ => {
                let first = step.first as usize;
                self.other(first, before, values);
                1
            }
        }
    }

    /// Non-temporal stores are gathered line by line.
    #[inline(never)]
    fn gather(&mut self, step: &Step, values: &[u64]) {
        let addr = word(values, step.slot).wrapping_add(step.disp);
        let end = addr.saturating_add(u64::from(step.size));
        let number = self.thread.accesses[step.first as usize].which;
        let mut at = addr;
        while at < end {
            let next = ((at | (LINE - 1)).saturating_add(1)).min(end);
            let bits = bits_of(at, next - at);
            self.memory.existing.gather(self.index, number, at, bits);
            at = next;
        }
    }

    /// Of the loads `first..end` those at the bits of `found`, counted from the first one: the others find nothing.
    #[inline(never)]
    pub(super) fn found_loads(
        &mut self,
        (first, end): (usize, usize),
        mut found: u64,
        before: u64,
        values: &[u64],
    ) {
        if end - first > u64::BITS as usize {
            return self.each_load(first, end, before, values);
        }
        let epochs = self.memory.epochs;
        while found != 0 {
            let at = first + found.trailing_zeros() as usize;
            found &= found - 1;
            self.load(at, before, values);
            if self.memory.epochs != epochs {
                // Lines of the sample are looked at again, those of the loads behind it among them.
                return self.each_load(at + 1, end, before, values);
            }
        }
    }

    #[inline(never)]
    fn each_load(&mut self, first: usize, end: usize, before: u64, values: &[u64]) {
        for at in first..end {
            self.load(at, before, values);
        }
    }

    #[inline(always)]
    fn load(&mut self, at: usize, before: u64, values: &[u64]) {
        let a = &mut self.thread.accesses[at];
        let addr = word(values, a.slot).wrapping_add(a.disp);
        let now = Moment {
            thread: self.index,
            now: before + u64::from(a.instr),
        };
        if self.memory.read(&mut a.hint, addr, u64::from(a.size), now) {
            self.thread.received[at] = true;
        }
    }

    #[inline(always)]
    fn store(&mut self, step: &mut Step, before: u64, values: &[u64]) {
        let thread = &mut *self.thread;
        let addr = word(values, step.slot).wrapping_add(step.disp);
        let size = u64::from(step.size);
        let at = Moment {
            thread: self.index,
            now: before + u64::from(step.instr),
        };
        if step.streak == FOREIGN {
            self.memory.foreign_write(&mut step.hint, addr, size, at);
        } else {
            let streak = &mut thread.streaks[step.streak as usize];
            self.memory
                .write(streak, &mut thread.pending, addr, size, at);
        }
    }

    #[inline(never)]
    fn other(&mut self, at: usize, before: u64, values: &[u64]) {
        let thread = &mut *self.thread;
        let a = thread.accesses[at];
        let addr = word(values, a.slot).wrapping_add(a.disp);
        let now = Moment {
            thread: self.index,
            now: before + u64::from(a.instr),
        };
        let kind = a.kind;
        if kind.orders_stores() {
            self.fence(&a, now.now);
        }
        let thread = &mut *self.thread;
        match a.op {
            Op::Fence => {}
            Op::Flush => {
                let line = addr >> LINE_SHIFT;
                let hint = &mut thread.accesses[at].hint;
                self.memory.flush(hint, a.which, addr, now);
                let existing = &mut self.memory.existing;
                existing.flush(self.index, a.which, line, now.now);
            }
            Op::Odd => {
                let r = self.thread.odd[a.which as usize];
                let xsave = std::mem::take(&mut self.thread.xsave);
                each_touch(&xsave, &r, values, |addr, size| {
                    if kind.writes() {
                        self.thread.odd_bytes[at] += size;
                    }
                    self.touch(at, addr, size, now);
                });
                self.thread.xsave = xsave;
            }
            _ => self.touch(at, addr, u64::from(a.size), now),
        }
        if kind.orders_stores() && a.op != Op::Fence {
            self.thread.pending.settle(now.now);
        }
    }

    fn fence(&mut self, a: &Access, now: u64) {
        let waits = match (a.op, a.kind) {
            (Op::Fence, EventKind::Fence(FenceKind::Store)) => Waits::Weak,
            (Op::Fence, _) => Waits::All,
            _ => Waits::Atomic,
        };
        let pending = &mut self.thread.pending;
        let existing = &mut self.memory.existing;
        let idle = existing.fence(self.index, waits, pending.any(), now);
        if waits != Waits::Atomic {
            let counts = existing.counts(self.index, a.which);
            counts.executed += 1;
            counts.idle += u64::from(idle);
        }
        self.memory.cores[self.index as usize].fenced = now + 1;
        let origins = &mut self.memory.origins;
        pending.fence(now, |origin, distance| {
            let fences = &mut origins.get_mut(origin).written().fences;
            fences.record(distance);
            fences.fenced(now);
        });
    }

    fn touch(&mut self, at: usize, addr: u64, size: u64, now: Moment) {
        if size == 0 {
            return;
        }
        let thread = &mut *self.thread;
        let a = &mut thread.accesses[at];
        let kind = a.kind;
        if kind.reads() {
            thread.received[at] |= self.memory.read(&mut a.hint, addr, size, now);
        }
        if !kind.writes() {
            return;
        }
        if a.streak == FOREIGN {
            self.memory.foreign_write(&mut a.hint, addr, size, now);
        } else {
            let streak = &mut thread.streaks[a.streak as usize];
            self.memory
                .write(streak, &mut thread.pending, addr, size, now);
        }
    }
}
