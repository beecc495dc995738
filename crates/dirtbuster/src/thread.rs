//! The front of the analysis: one thread's execution, block by block.

use prestore_trace::block::{Block, BlockEnd, BlockTable};
use prestore_trace::record::{AllocKind, Special};
use prestore_trace::replay::{CallStack, CallTree, ExecSink, Replayer, Row};
use prestore_trace::{ProcessId, SiteId, SiteTable, ThreadId};

use crate::batch::{Batch, Item, RARE, Rare};
use crate::groups::Groups;
use crate::oracle::SiteOracle;
use crate::origins::Interner;
use crate::runs::{Run, Runs, Workshop};
use crate::stretches::Stretches;

/// What the front keeps of a thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    pub(crate) process: ProcessId,
    pub(crate) id: ThreadId,
    pub(crate) replayer: Replayer,
    /// Instructions outside the recording's scope.
    pub(crate) skipped: u64,
    /// Instructions that were handed over with a part of the run.
    pub(crate) counted: u64,
    pub(crate) state: ThreadState,
    /// It has ended, and what it executed is accounted for.
    pub(crate) ended: bool,
}

/// What a thread executed in a part of the run.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) process: ProcessId,
    pub(crate) thread: ThreadId,
    pub(crate) instructions: u64,
    pub(crate) runs: Runs,
}

#[derive(Debug, Default)]
pub(crate) struct ThreadState {
    /// Its number in its process.
    index: u32,
    stack: CallStack,
    pub(crate) runs: Runs,
    /// The stretch that it is in, counted from 1 (0: there are none).
    window: u64,
    /// It has said so itself.
    pub(crate) told: bool,
    /// Something of it was left out, and the back knows.
    gap: bool,
    /// When it wrote data last, and until when it is known to have waited.
    wrote: u64,
    waited: u64,
    /// What its last atomic wrote: a lock, maybe.
    taken: u64,
}

/// Instructions of one round of a loop that waits, at most: what pauses between two looks (yields,
/// sleeps) is code of the C library.
const ROUND: u64 = 256;

impl Thread {
    /// One that has ended and was accounted for.
    pub(crate) fn over() -> Self {
        Self {
            ended: true,
            ..Self::default()
        }
    }

    /// What it executed since it was asked last; `None`: it had ended by then.
    pub(crate) fn part(&mut self) -> Option<Part> {
        if self.ended {
            return None;
        }
        let done = self.replayer.instrs() - self.skipped;
        Some(Part {
            process: self.process,
            thread: self.id,
            instructions: done - std::mem::replace(&mut self.counted, done),
            runs: std::mem::take(&mut self.state.runs),
        })
    }
}

impl ThreadState {
    /// The state of the thread of this number in its process.
    pub(crate) fn new(index: u32) -> Self {
        Self {
            index,
            ..Self::default()
        }
    }

    /// Nothing was left out of its process up to the stretch `number`, as far as it has not said otherwise.
    pub(crate) fn is_whole_in(&mut self, number: Option<u64>) {
        if !self.told {
            self.window = number.map_or(0, |n| n + 1);
        }
    }
}

/// Receives a thread's executions while a buffer is replayed.
pub(crate) struct Execution<'a, O> {
    pub(crate) thread: &'a mut ThreadState,
    pub(crate) skipped: &'a mut u64,
    pub(crate) origins: &'a mut Interner,
    pub(crate) groups: &'a mut Groups<O>,
    pub(crate) tree: &'a mut CallTree,
    pub(crate) table: &'a BlockTable,
    pub(crate) sites: &'a mut SiteTable,
    pub(crate) batch: &'a mut Batch,
    /// Of the words, which `values` lie in.
    pub(crate) start: *const u64,
    pub(crate) stretches: &'a mut Stretches,
}

impl<O: SiteOracle> ExecSink for Execution<'_, O> {
    #[inline(always)]
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        self.thread.stack.enter(block, self.tree);
        let number = self.run_of(block);
        let at = self.place_of(values);
        if executed != block.instrs {
            return self.cut_short(number, before, at, executed);
        }
        let thread = &mut *self.thread;
        let run = &mut thread.runs.all[number];
        run.executions += 1;
        if run.stores {
            run.contexts.count(thread.stack.node());
            if run.window != thread.window {
                run.window = thread.window;
                run.windows += 1;
            }
        }
        if run.polls {
            if run.locks
                && let Some(lock) = run.lock.taken(values)
            {
                thread.taken = lock;
            }
            poll(run, before, values, thread.wrote, &mut thread.waited);
        } else if run.stores && !(run.locks && run.lock.gives_back(values, thread.taken)) {
            thread.wrote = before + 1;
        }
        if run.acts {
            let run = number as u32;
            self.batch.items.push(Item { before, run, at });
        }
    }

    const IN_ROWS: bool = true;

    fn row(&mut self, before: u64, block: &Block, row: Row<'_>) {
        let mut executions = row.executions();
        let instrs = u64::from(block.instrs);
        let Some(first) = executions.next() else {
            return;
        };
        self.exec(before, block, first, block.instrs);
        if matches!(block.end, BlockEnd::Call | BlockEnd::Ret) {
            for (values, n) in executions.zip(1..) {
                self.exec(before + n * instrs, block, values, block.instrs);
            }
            return;
        }
        // Nothing calls or returns, and no stretch begins: what the first one is the others are.
        let (number, at) = (self.run_of(block), self.place_of(first));
        let behind = executions.len() as u64;
        let thread = &mut *self.thread;
        let run = &mut thread.runs.all[number];
        run.executions += behind;
        if run.stores {
            run.contexts.count_times(thread.stack.node(), behind);
        }
        if run.polls {
            poll_row(run, (before, instrs), row, thread.wrote, &mut thread.waited);
        } else if run.stores {
            thread.wrote = before + behind * instrs + 1;
        }
        if run.acts {
            let distance = row.distance() as u32;
            self.batch.items.extend((0..behind).map(|n| Item {
                before: before + (n + 1) * instrs,
                run: number as u32,
                at: at + (n as u32 + 1) * distance,
            }));
        }
    }

    fn special(&mut self, before: u64, special: Special) {
        match special {
            Special::Alloc {
                addr,
                size,
                caller,
                kind,
            } => {
                let site = self.allocation_site(caller);
                let node = self.thread.stack.node();
                let writers = self.groups.of_known_caller(node, self.tree, self.sites);
                let allocate = Rare::Allocate {
                    addr,
                    size,
                    site,
                    writers,
                    mapped: kind == AllocKind::Mmap,
                };
                self.rare(before, 0, allocate);
            }
            Special::Free { addr, .. } => self.rare(before, 0, Rare::Free { addr }),
            Special::Mapped { addr, size, .. } => {
                self.rare(before, 0, Rare::MapFile { addr, size });
            }
            Special::Skip { instrs } => {
                *self.skipped += instrs;
                // One is an instruction that the recorder does not know.
                if instrs > 1 {
                    self.gap(before);
                    if self.groups.are_all() {
                        self.thread.stack.leaves_out();
                    }
                    if self.thread.told {
                        self.rare(before, 0, Rare::LeftOut);
                    }
                }
            }
            Special::Window { number } => {
                self.gap(before);
                self.thread.stack.leaves_out();
                self.thread.window = number + 1;
                self.thread.told = true;
                self.stretches.enters(number);
            }
            Special::Time { .. }
            | Special::Stamp { .. }
            | Special::Spawn { .. }
            | Special::Synced { .. }
            | Special::Unknown { .. } => {}
        }
    }
}

/// A block is executed that may be part of a loop which waits for another thread. It is, if since
/// its last execution, just now, nothing was written and its addresses are the same; whether it is
/// another thread that ends the loop is known at the end.
#[inline]
fn poll(run: &mut Run, before: u64, values: &[u64], wrote: u64, waited: &mut u64) {
    let values = mixed(values);
    let same = values == run.last_values;
    look_again(run, before, same, wrote, waited);
    run.last_values = values;
}

/// The same for the executions of a row behind its first, whose values need not be mixed to be compared.
fn poll_row(
    run: &mut Run,
    (before, instrs): (u64, u64),
    row: Row<'_>,
    wrote: u64,
    waited: &mut u64,
) {
    let mut executions = row.executions();
    let Some(mut last) = executions.next() else {
        return;
    };
    let mut at = before;
    for values in executions {
        at += instrs;
        // Mostly the first one tells; two or three values: a call would take longer than to compare them.
        if values.first() == last.first() && values.iter().eq(last) {
            run.last = at - instrs;
            look_again(run, at, true, wrote, waited);
        }
        last = values;
    }
    run.last = at;
    run.last_values = mixed(last);
}

/// Sums of addresses that go on by different strides must differ, too: exclusive or alone lets them cancel out.
#[inline]
fn mixed(values: &[u64]) -> u64 {
    let mix = |sum: u64, value: &u64| {
        (sum ^ value)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    };
    values.iter().fold(1, mix)
}

/// It is executed again, with the same values or not.
#[inline]
fn look_again(run: &mut Run, before: u64, same: bool, wrote: u64, waited: &mut u64) {
    if same && wrote <= run.last && before - run.last <= ROUND {
        run.rounds += 1;
        run.waited += before - run.last.max(*waited);
        *waited = before;
    }
    run.last = before;
}

impl<O: SiteOracle> Execution<'_, O> {
    /// Number of the run of a block that is executed now.
    #[inline]
    fn run_of(&mut self, block: &Block) -> usize {
        let thread = &mut *self.thread;
        if let Some(run) = thread.runs.known(block.id) {
            return run;
        }
        let shop = Workshop {
            groups: self.groups,
            origins: self.origins,
            tree: self.tree,
            sites: self.sites,
            thread: thread.index,
            fresh: &mut self.batch.runs,
        };
        thread.runs.find(block, thread.stack.node(), shop)
    }

    /// Where in the words the values lie.
    #[inline]
    fn place_of(&self, values: &[u64]) -> u32 {
        ((values.as_ptr() as usize - self.start as usize) / 8) as u32
    }

    /// The call that asked for memory and returns to `caller`; where generic code asked (a
    /// library's `mmap`), the call in its nearest caller that is not.
    fn allocation_site(&mut self, caller: u64) -> SiteId {
        // Inside the call instruction, as the lines of a call site are.
        let site = self.table.site_of(caller.wrapping_sub(1), self.sites);
        if !self.groups.classify(site, self.sites).generic {
            return site;
        }
        let mut callers = self.tree.callers(self.thread.stack.node());
        callers
            .find(|&call| !self.groups.classify(call, self.sites).generic)
            .unwrap_or(site)
    }

    #[cold]
    #[inline(never)]
    fn cut_short(&mut self, number: usize, before: u64, at: u32, executed: u32) {
        let runs = &mut self.thread.runs;
        let run = runs.all[number];
        for facts in &mut runs.facts[run.first as usize..run.end as usize] {
            facts.extra += u64::from(u32::from(facts.instr) < executed);
        }
        let run = number as u32;
        self.rare(before, at, Rare::Cut { run, executed });
    }

    /// Something was left out before this. Once a thread is enough.
    fn gap(&mut self, before: u64) {
        if !std::mem::replace(&mut self.thread.gap, true) {
            self.rare(before, 0, Rare::Gap);
        }
    }

    fn rare(&mut self, before: u64, at: u32, rare: Rare) {
        let run = RARE + self.batch.rare.len() as u32;
        self.batch.items.push(Item { before, run, at });
        self.batch.rare.push(rare);
    }
}
