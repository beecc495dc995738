//! One thread's execution, block by block.

use prestore_trace::block::{Block, BlockTable};
use prestore_trace::record::Special;
use prestore_trace::replay::{CallStack, CallTree, ExecSink, Replayer, each_touch};
use prestore_trace::{ProcessId, SiteTable, ThreadId};

use crate::fences::PendingWrites;
use crate::groups::Groups;
use crate::memory::{Memory, Moment};
use crate::oracle::SiteOracle;
use crate::runs::{FOREIGN, Op, Runs, Workshop};
use crate::steps::{self, Step};

/// What is kept of a thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    pub(crate) process: ProcessId,
    pub(crate) id: ThreadId,
    pub(crate) replayer: Replayer,
    /// Instructions outside the recording's scope.
    pub(crate) skipped: u64,
    pub(crate) state: ThreadState,
}

#[derive(Debug, Default)]
pub(crate) struct ThreadState {
    /// Its number in its process.
    pub(crate) index: u32,
    stack: CallStack,
    pub(crate) runs: Runs,
    pending: PendingWrites,
}

impl ThreadState {
    /// The state of the thread of this number in its process.
    pub(crate) fn new(index: u32) -> Self {
        Self {
            index,
            ..Self::default()
        }
    }
}

/// Receives a thread's executions while a buffer is replayed.
pub(crate) struct Execution<'a, O> {
    pub(crate) thread: &'a mut ThreadState,
    pub(crate) skipped: &'a mut u64,
    pub(crate) memory: &'a mut Memory,
    pub(crate) groups: &'a mut Groups<O>,
    pub(crate) tree: &'a mut CallTree,
    pub(crate) table: &'a BlockTable,
    pub(crate) sites: &'a mut SiteTable,
}

impl<O: SiteOracle> ExecSink for Execution<'_, O> {
    #[inline]
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let thread = &mut *self.thread;
        thread.stack.enter(block, self.tree);
        let run = match thread.runs.known(block.id) {
            Some(run) => run,
            None => {
                let shop = Workshop {
                    groups: self.groups,
                    origins: &mut self.memory.origins,
                    tree: self.tree,
                    sites: self.sites,
                    thread: thread.index,
                };
                thread.runs.find(block, thread.stack.node(), shop)
            }
        };
        if executed != block.instrs {
            return self.cut_short(run, before, block, values, executed);
        }
        let run = &mut thread.runs.all[run];
        run.executions += 1;
        if run.stores {
            run.contexts.count(thread.stack.node());
        }
        let (mut at, end) = (run.first_step as usize, run.end_step as usize);
        while at < end {
            at += self.step(at, before, block, values);
        }
    }

    fn special(&mut self, _before: u64, special: Special) {
        match special {
            Special::Alloc {
                addr, size, caller, ..
            } => {
                let site = self.table.site_of(caller, self.sites);
                self.memory.allocations.allocate(addr, size, site);
            }
            Special::Free { addr, .. } => self.memory.allocations.free(addr),
            Special::Skip { instrs } => *self.skipped += instrs,
            Special::Time { .. } | Special::Context { .. } | Special::Unknown { .. } => {}
        }
    }
}

impl<O: SiteOracle> Execution<'_, O> {
    #[cold]
    #[inline(never)]
    fn cut_short(&mut self, run: usize, before: u64, block: &Block, values: &[u64], executed: u32) {
        let run = self.thread.runs.all[run];
        for at in run.first_step as usize..run.end_step as usize {
            let step = self.thread.runs.steps[at];
            let (first, end) = (step.first as usize, step.end as usize);
            let accesses = &self.thread.runs.accesses[first..end];
            let n = accesses.partition_point(|a| u32::from(a.instr) < executed);
            if n == 0 || step.op == Op::Load && step.loads == 0 {
                continue;
            }
            for facts in &mut self.thread.runs.facts[first..first + n] {
                facts.extra += 1;
            }
            match step.op {
                Op::Load => self.each_load(first, first + n, before, values),
                Op::Store => {
                    let facts = &self.thread.runs.facts[first..first + n];
                    if let Some((n, write)) = steps::one_write(&accesses[..n], facts) {
                        let mut part = Step {
                            disp: write.disp,
                            size: write.size,
                            instr: accesses[n - 1].instr,
                            ..step
                        };
                        self.store(&mut part, before, values);
                    }
                }
                _ => self.other(first, before, block, values),
            }
        }
    }

    /// Makes the step `at` and returns how many were made.
    #[inline(always)]
    fn step(&mut self, at: usize, before: u64, block: &Block, values: &[u64]) -> usize {
        let step = &mut self.thread.runs.steps[at];
        match step.op {
            Op::Load => {
                let (n, first, end) = (usize::from(step.loads), step.first, step.end);
                if n == 1 {
                    let addr = word(values, step.slot).wrapping_add(step.disp);
                    let size = u64::from(step.size);
                    if self.memory.unread(&mut step.hint, addr, size) != 0 {
                        self.each_load(first as usize, end as usize, before, values);
                    }
                    return 1;
                }
                let mut unread = 0;
                for step in &mut self.thread.runs.steps[at..at + n] {
                    let addr = word(values, step.slot).wrapping_add(step.disp);
                    let size = u64::from(step.size);
                    unread |= self.memory.unread(&mut step.hint, addr, size);
                }
                if unread != 0 {
                    self.each_load(first as usize, end as usize, before, values);
                }
                n
            }
            Op::Store => {
                let mut made = *step;
                self.store(&mut made, before, values);
                self.thread.runs.steps[at].hint = made.hint;
                1
            }
            _ => {
                let first = step.first as usize;
                self.other(first, before, block, values);
                1
            }
        }
    }

    #[inline(never)]
    fn each_load(&mut self, first: usize, end: usize, before: u64, values: &[u64]) {
        for a in &mut self.thread.runs.accesses[first..end] {
            let addr = word(values, a.slot).wrapping_add(a.disp);
            let at = Moment {
                thread: self.thread.index,
                now: before + u64::from(a.instr),
            };
            self.memory.read(&mut a.hint, addr, u64::from(a.size), at);
        }
    }

    #[inline(always)]
    fn store(&mut self, step: &mut Step, before: u64, values: &[u64]) {
        let thread = &mut *self.thread;
        let addr = word(values, step.slot).wrapping_add(step.disp);
        let size = u64::from(step.size);
        let at = Moment {
            thread: thread.index,
            now: before + u64::from(step.instr),
        };
        if step.streak == FOREIGN {
            self.memory.foreign_write(&mut step.hint, addr, size, at);
        } else {
            let streak = &mut thread.runs.streaks[step.streak as usize];
            self.memory
                .write(streak, &mut thread.pending, addr, size, at);
        }
    }

    #[inline(never)]
    fn other(&mut self, at: usize, before: u64, block: &Block, values: &[u64]) {
        let thread = &mut *self.thread;
        let a = thread.runs.accesses[at];
        let addr = word(values, a.slot).wrapping_add(a.disp);
        let now = Moment {
            thread: thread.index,
            now: before + u64::from(a.instr),
        };
        let kind = thread.runs.facts[at].kind;
        if kind.orders_stores() {
            let origins = &mut self.memory.origins;
            thread.pending.fence(now.now, |origin, distance| {
                origins.get_mut(origin).fences.record(distance);
            });
        }
        match a.op {
            Op::Fence => {}
            Op::Odd => {
                let r = &block.refs[usize::from(a.which)];
                let xsave = self.table.xsave();
                each_touch(xsave, r, values, |addr, size| {
                    if kind.writes() {
                        self.thread.runs.facts[at].odd_bytes += size;
                    }
                    self.touch(at, addr, size, now);
                });
            }
            _ => self.touch(at, addr, u64::from(a.size), now),
        }
    }

    fn touch(&mut self, at: usize, addr: u64, size: u64, now: Moment) {
        if size == 0 {
            return;
        }
        let thread = &mut *self.thread;
        let a = &mut thread.runs.accesses[at];
        let kind = thread.runs.facts[at].kind;
        if kind.reads() {
            self.memory.read(&mut a.hint, addr, size, now);
        }
        if !kind.writes() {
            return;
        }
        if a.streak == FOREIGN {
            self.memory.foreign_write(&mut a.hint, addr, size, now);
        } else {
            let streak = &mut thread.runs.streaks[a.streak as usize];
            self.memory
                .write(streak, &mut thread.pending, addr, size, now);
        }
    }
}

#[inline(always)]
fn word(values: &[u64], slot: u16) -> u64 {
    values.get(usize::from(slot)).copied().unwrap_or(0)
}
