//! The analysis: buffers in, findings out.

use prestore_trace::block::{BlockTable, SharedMemory};
use prestore_trace::replay::{CallTree, ReplayError};
use prestore_trace::{ProcessId, SiteId, SiteTable, ThreadId};
use rustc_hash::FxHashMap;

use crate::Thresholds;
use crate::back::Back;
use crate::batch::{Batch, Ended};
use crate::contexts::Limits;
use crate::executed::ThreadTotals;
use crate::findings::Findings;
use crate::groups::Groups;
use crate::oracle::SiteOracle;
use crate::origins::Interner;
use crate::pipe::Pipe;
use crate::stretches::{Seen, Stretches};
use crate::summary;
use crate::thread::{Execution, Part, Thread, ThreadState};

/// The analysis of a run, streaming: O(1) an event, amortised.
///
/// Memory: 32 bytes a line written by tracked code (in groups of 16 lines; 512 bytes for a lone
/// line), at most 256 bytes more for every second line where the writes form sequential contexts,
/// 13 KB for each 2 MB of address space touched at all, at most 4 MB a thread for writes that wait
/// for a fence, and up to 4 KB for each executed store instruction, some hundred bytes for each live
/// allocation and calling context, and as many for each line that processes share and write, of two
/// million at most. Of processes that have written such lines the last 64 that ended are kept. Else
/// nothing grows with the length of the run, and what a process took is given back when it ends ([`Analyzer::end`]).
///
/// What a thread executed is followed in the caller's thread, what it did to memory in one of the
/// analysis's own, at most a few buffers behind.
///
/// Deterministic: the same buffers in the same order give the same findings.
#[derive(Debug)]
pub struct Analyzer<O> {
    thresholds: Thresholds,
    groups: Groups<O>,
    tree: CallTree,
    /// Those that have not ended.
    processes: FxHashMap<ProcessId, Process>,
    way: Way,
    totals: Option<ProgramTotals>,
    /// Of a process that begins.
    stretches: Stretches,
    /// Of those that have ended.
    seen: Seen,
}

/// Where the back of the analysis is.
#[derive(Debug)]
enum Way {
    /// In a thread of its own.
    Beside(Pipe),
    /// Here, where the system gave no thread.
    Here(Box<(Back, Batch)>),
}

/// The front's share of a process.
#[derive(Debug)]
struct Process {
    origins: Interner,
    by_id: FxHashMap<ThreadId, usize>,
    threads: Vec<Thread>,
    stretches: Stretches,
    /// Instructions.
    executed: u64,
    common: Common,
}

/// What a process has in common with others, as the back knows it.
#[derive(Debug, Default)]
struct Common {
    memory: SharedMemory,
    /// Changes of the process's table when that was looked at.
    changes: u64,
    /// Number of a thread that there is not: there it stands for the other processes.
    others: Option<usize>,
}

/// Exact counts of the whole program, from a first pass that counted everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTotals {
    /// Instructions executed.
    pub instructions: u64,
    /// Store instructions executed.
    pub stores: u64,
}

/// How often a store instruction was executed: exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreCount {
    /// The store.
    pub site: SiteId,
    /// Executions.
    pub stores: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// What is left when the analysis is over.
#[derive(Debug)]
pub struct Outcome<O> {
    /// The findings.
    pub findings: Findings,
    /// How much of the run was looked at.
    pub seen: Seen,
    /// Executed stores by instruction, most first.
    pub counts: Vec<StoreCount>,
    /// What each thread executed, by process and thread.
    pub threads: Vec<ThreadTotals>,
    /// All calling contexts.
    pub tree: CallTree,
    /// The oracle back.
    pub oracle: O,
    /// Bytes of memory that lines and contexts of a process took at its end, when they take most;
    /// of the process with the most.
    pub memory_bytes: usize,
}

impl<O: SiteOracle> Analyzer<O> {
    /// An analysis of all functions' writes.
    pub fn new(thresholds: Thresholds, oracle: O) -> Self {
        let limits = Limits::new(&thresholds);
        Self {
            thresholds,
            groups: Groups::new(oracle, None),
            tree: CallTree::default(),
            processes: FxHashMap::default(),
            way: Way::new(limits),
            totals: None,
            stretches: Stretches::none(),
            seen: Seen::default(),
        }
    }

    /// Of a run of which stretches of `length` instructions are recorded: all of
    /// them before the stretch `dense` (a multiple of 4), one of four before the stretch `4 * dense`, and so on down to one of
    /// `thinnest` (a power of four). A process is recorded whole until a
    /// [`Special::Window`](prestore_trace::record::Special::Window) says which stretch begins.
    /// What is found is then an estimate for the whole run. To be called before anything is fed.
    #[must_use]
    pub fn with_stretches(mut self, length: u64, dense: u64, thinnest: u64) -> Self {
        self.stretches = Stretches::new(length, dense, thinnest);
        self
    }

    /// Instructions that `thread` of `process` has executed by what was fed, those outside the recording's scope included.
    pub fn executed(&self, process: ProcessId, thread: ThreadId) -> u64 {
        let own = self.processes.get(&process);
        let known = own.and_then(|p| Some(&p.threads[*p.by_id.get(&thread)?]));
        known.map_or(0, |t| t.replayer.instrs())
    }

    /// Tracks only the writes of chosen functions (told by their keys, as in [`crate::SiteClass`]; generic code
    /// called by one of them counts as its own). Whoever reads what they wrote is seen; other
    /// code's writes to their lines count as re-writes. To be called before anything is fed.
    #[must_use]
    pub fn with_scope(mut self, is_chosen: fn(u64) -> bool) -> Self {
        self.groups = Groups::new(self.groups.oracle, Some(is_chosen));
        self
    }

    /// Judges shares against these counts instead of those of what is fed, which is less than the
    /// whole program where the recording was filtered.
    #[must_use]
    pub fn with_totals(mut self, totals: ProgramTotals) -> Self {
        self.totals = Some(totals);
        self
    }

    /// Takes in what `thread` did next, and returns how many of `words` were whole records. The
    /// threads' buffers are to come in the order in which they were filled. `table` has the blocks
    /// of the process, `sites` all sites of the trace; callers of allocators are added.
    ///
    /// # Errors
    /// As [`prestore_trace::replay::Replayer::replay`]; what came before was taken in.
    pub fn feed(
        &mut self,
        process: ProcessId,
        thread: ThreadId,
        table: &BlockTable,
        sites: &mut SiteTable,
        words: &[u64],
    ) -> Result<usize, ReplayError> {
        let own = (self.processes.entry(process)).or_insert_with(|| Process {
            origins: Interner::default(),
            by_id: FxHashMap::default(),
            threads: Vec::new(),
            stretches: self.stretches,
            executed: 0,
            common: Common::default(),
        });
        let next = own.threads.len();
        let at = *own.by_id.entry(thread).or_insert(next);
        if at == next {
            own.threads.push(Thread {
                process,
                id: thread,
                state: ThreadState::new(next as u32),
                ..Thread::default()
            });
        }
        let common = own.common_if_new(table);
        let thread = &mut own.threads[at];
        let (whole, before) = (own.stretches.whole(own.executed), thread.replayer.instrs());
        thread.state.is_whole_in(whole);
        let mut batch = self.way.batch();
        let mut execution = Execution {
            thread: &mut thread.state,
            skipped: &mut thread.skipped,
            origins: &mut own.origins,
            groups: &mut self.groups,
            tree: &mut self.tree,
            table,
            sites,
            batch: &mut batch,
            start: words.as_ptr(),
            stretches: &mut own.stretches,
        };
        let taken = thread.replayer.replay(words, table, &mut execution);
        own.executed += thread.replayer.instrs() - before;
        if let Some(number) = whole.filter(|_| !thread.state.told) {
            own.stretches.passes(number);
        }
        (batch.process, batch.thread) = (process, at);
        batch.common = common;
        batch.instrs = thread.replayer.instrs();
        if !batch.items.is_empty() {
            batch.words.extend_from_slice(words);
        }
        batch.origins.append(&mut own.origins.news);
        batch.xsave.extend_from_slice(table.xsave());
        self.way.send(batch);
        if let Some(weight) = own.stretches.turn() {
            // Blocks and origins are numbered anew.
            own.origins = Interner::default();
            let parts = own.parts();
            self.send_end(process, Ended::Part(parts, weight));
        }
        taken
    }

    /// `process` has ended: nothing of it will be fed any more. What is kept of it are sums by code,
    /// so that memory does not grow with processes that came and went.
    pub fn end(&mut self, process: ProcessId) {
        let Some(mut ended) = self.processes.remove(&process) else {
            return;
        };
        self.seen = self.seen.and(ended.stretches.seen());
        let end = Ended::Process(ended.parts(), ended.stretches.weight());
        self.send_end(process, end);
    }

    fn send_end(&mut self, process: ProcessId, ended: Ended) {
        let mut batch = self.way.batch();
        batch.process = process;
        batch.ended = Some(ended);
        self.way.send(batch);
    }

    /// `thread` of `process` has ended, as [`Analyzer::end`] for one thread.
    pub fn end_thread(&mut self, process: ProcessId, thread: ThreadId) {
        let Some(own) = self.processes.get_mut(&process) else {
            return;
        };
        let Some(&at) = own.by_id.get(&thread) else {
            return;
        };
        let mut thread = std::mem::replace(&mut own.threads[at], Thread::over());
        let Some(part) = thread.part() else {
            return;
        };
        let mut batch = self.way.batch();
        (batch.process, batch.thread) = (process, at);
        batch.ended = Some(Ended::Thread(Box::new(part)));
        self.way.send(batch);
    }

    /// Ends the analysis.
    pub fn finish(mut self) -> Outcome<O> {
        let mut open: Vec<ProcessId> = self.processes.keys().copied().collect();
        open.sort_unstable();
        for process in open {
            self.end(process);
        }
        let ledger = match self.way {
            Way::Beside(pipe) => pipe.finish(),
            Way::Here(here) => here.0,
        }
        .finish();
        let (findings, counts, threads) = summary::findings(
            &ledger,
            &self.groups,
            &self.tree,
            &self.thresholds,
            self.totals,
            self.seen,
        );
        Outcome {
            findings,
            seen: self.seen,
            counts,
            threads,
            tree: self.tree,
            oracle: self.groups.oracle,
            memory_bytes: ledger.memory_bytes,
        }
    }
}

impl Process {
    /// What it has in common with others, if that is not what it was, and the thread that stands for those.
    fn common_if_new(&mut self, table: &BlockTable) -> Option<(SharedMemory, usize)> {
        let common = &mut self.common;
        if std::mem::replace(&mut common.changes, table.changes()) == table.changes()
            || *table.shared() == common.memory
        {
            return None;
        }
        common.memory = table.shared().clone();
        let threads = &mut self.threads;
        let others = *common.others.get_or_insert_with(|| {
            threads.push(Thread::over());
            threads.len() - 1
        });
        Some((common.memory.clone(), others))
    }

    /// What its threads executed since they were asked last.
    fn parts(&mut self) -> Vec<Option<Part>> {
        self.threads.iter_mut().map(Thread::part).collect()
    }
}

impl Way {
    fn new(limits: Limits) -> Self {
        match Pipe::start(Back::new(limits)) {
            Ok(pipe) => Self::Beside(pipe),
            Err(_) => Self::Here(Box::new((Back::new(limits), Batch::default()))),
        }
    }

    fn batch(&mut self) -> Batch {
        match self {
            Self::Beside(pipe) => pipe.batch(),
            Self::Here(here) => std::mem::take(&mut here.1),
        }
    }

    fn send(&mut self, mut batch: Batch) {
        match self {
            Self::Beside(pipe) => pipe.send(batch),
            Self::Here(here) => {
                here.0.take(&mut batch);
                batch.clear();
                here.1 = batch;
            }
        }
    }
}
