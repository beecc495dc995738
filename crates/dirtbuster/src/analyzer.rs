//! The analysis: buffers in, findings out.

use prestore_trace::block::BlockTable;
use prestore_trace::replay::{CallTree, ReplayError};
use prestore_trace::{ProcessId, SiteId, SiteTable, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Thresholds;
use crate::clock::{ProcessClock, ThreadClock};
use crate::contexts::Limits;
use crate::findings::Findings;
use crate::groups::Groups;
use crate::memory::Memory;
use crate::oracle::SiteOracle;
use crate::summary;
use crate::thread::{Execution, Thread, ThreadState};

/// The analysis of a run, streaming: O(1) an event, amortised.
///
/// Memory: 32 bytes a line written by tracked code (in groups of 16 lines; 512 bytes for a lone
/// line), at most 144 bytes more for every second line where the writes form sequential contexts,
/// 12 KB for each 2 MB of address space touched at all, at most 4 MB a thread for writes that wait
/// for a fence, and up to 4 KB for each executed store instruction, and some hundred bytes for each live
/// allocation and calling context. Nothing grows with the length of the run.
///
/// Deterministic: the same buffers in the same order give the same findings.
#[derive(Debug)]
pub struct Analyzer<O> {
    thresholds: Thresholds,
    groups: Groups<O>,
    tree: CallTree,
    processes: FxHashMap<ProcessId, Process>,
    totals: Option<ProgramTotals>,
}

#[derive(Debug)]
pub(crate) struct Process {
    clock: ProcessClock,
    pub(crate) memory: Memory,
    by_id: FxHashMap<ThreadId, usize>,
    pub(crate) threads: Vec<Thread>,
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

/// What one thread executed: exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// Its process.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Instructions, without those outside the recording's scope.
    pub instructions: u64,
    /// Store instructions, atomics included.
    pub stores: u64,
    /// Load instructions, atomics included.
    pub loads: u64,
    /// Fences and atomics.
    pub fences: u64,
}

/// What is left when the analysis is over.
#[derive(Debug)]
pub struct Outcome<O> {
    /// The findings.
    pub findings: Findings,
    /// Executed stores by instruction, most first.
    pub counts: Vec<StoreCount>,
    /// What each thread executed, by process, in the order of the threads' first buffers.
    pub threads: Vec<ThreadTotals>,
    /// All calling contexts.
    pub tree: CallTree,
    /// The oracle back.
    pub oracle: O,
    /// Bytes of memory that lines and contexts took at the end, when they take most.
    pub memory_bytes: usize,
}

impl<O: SiteOracle> Analyzer<O> {
    /// An analysis of all functions' writes.
    pub fn new(thresholds: Thresholds, oracle: O) -> Self {
        Self {
            thresholds,
            groups: Groups::new(oracle, None),
            tree: CallTree::default(),
            processes: FxHashMap::default(),
            totals: None,
        }
    }

    /// Tracks only the writes of these functions (keys as in [`crate::SiteClass`]; generic code
    /// called by one of them counts as its own). Whoever reads what they wrote is seen; other
    /// code's writes to their lines count as re-writes. To be called before anything is fed.
    #[must_use]
    pub fn with_scope(mut self, functions: impl IntoIterator<Item = u64>) -> Self {
        let scope: FxHashSet<u64> = functions.into_iter().collect();
        self.groups = Groups::new(self.groups.oracle, Some(scope));
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
        let limits = Limits::new(&self.thresholds);
        let pid = process;
        let process = self.processes.entry(pid).or_insert_with(|| Process {
            clock: ProcessClock::default(),
            memory: Memory::new(limits),
            by_id: FxHashMap::default(),
            threads: Vec::new(),
        });
        let next = process.threads.len();
        let at = *process.by_id.entry(thread).or_insert(next);
        if at == next {
            let clock = ThreadClock::starting(&process.clock);
            process.memory.clocks.push(clock);
            process.threads.push(Thread {
                process: pid,
                id: thread,
                state: ThreadState::new(next as u32),
                ..Thread::default()
            });
        }
        let thread = &mut process.threads[at];
        let mut execution = Execution {
            thread: &mut thread.state,
            skipped: &mut thread.skipped,
            memory: &mut process.memory,
            groups: &mut self.groups,
            tree: &mut self.tree,
            table,
            sites,
        };
        let taken = thread.replayer.replay(words, table, &mut execution);
        let own = thread.replayer.instrs();
        process.memory.clocks[at].buffer_ended(own, &mut process.clock);
        taken
    }

    /// Ends the analysis.
    pub fn finish(mut self) -> Outcome<O> {
        let mut processes: Vec<(ProcessId, Process)> = self.processes.drain().collect();
        processes.sort_by_key(|p| p.0);
        let mut memory_bytes = 0;
        for (_, process) in &mut processes {
            memory_bytes += process.memory.lines.memory() + process.memory.contexts.memory();
            process.memory.finish();
        }
        let processes: Vec<Process> = processes.into_iter().map(|p| p.1).collect();
        let (findings, counts, threads) = summary::findings(
            &processes,
            &self.groups,
            &self.tree,
            &self.thresholds,
            self.totals,
        );
        Outcome {
            findings,
            counts,
            threads,
            tree: self.tree,
            oracle: self.groups.oracle,
            memory_bytes,
        }
    }
}
