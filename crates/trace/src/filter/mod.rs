//! Scope `functions`: of all that a program did, what concerns the writes of chosen functions.
//!
//! Kept are the chosen functions' accesses, all fences and atomics, and any code's accesses to
//! lines that those functions wrote before (so that a re-read elsewhere is seen, which P0's tool
//! misses). The rest becomes counts of instructions, so that distances stay exact. Calls and
//! returns are kept, without their accesses, so that calling contexts stay known.
//!
//! The filter stands between the tracer and the writer: frames and words in, frames and words
//! out. Its blocks are numbered anew: the same code may appear as several blocks that differ in
//! which of their accesses are kept.

mod frames;
mod lines;
mod process;
mod thread;

use rustc_hash::FxHashMap;

use crate::block::{BlockTable, MetaError};
use crate::replay::{CallTree, NodeId, ReplayError};
use crate::{ProcessId, SiteId, SiteTable, ThreadId};
use process::ProcessFilter;
use thread::{Execution, ThreadFilter};

/// What a scope says of the code at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Of a chosen function.
    Chosen,
    /// Generic code (`memcpy`): chosen if its nearest caller that is not generic is.
    Generic,
    /// Of another function.
    Other,
}

/// Tells which code is in the scope; asked about a site once.
pub trait ScopeOracle {
    /// What the scope says of the code at `site`.
    fn choose(&mut self, site: SiteId, sites: &SiteTable) -> Choice;
}

/// What a filter hands on.
#[derive(Debug)]
pub struct Filtered<'a> {
    /// Frames to append to the process's meta log before the words are stored.
    pub frames: &'a [u8],
    /// What the thread did, in the filter's own blocks.
    pub words: &'a [u64],
    /// Those blocks.
    pub table: &'a BlockTable,
}

/// Exact counts of everything that passed by, kept or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Instructions executed.
    pub instructions: u64,
    /// Store instructions executed.
    pub stores: u64,
}

/// Filters a recording.
#[derive(Debug)]
pub struct ScopeFilter<O> {
    chooser: Chooser<O>,
    processes: FxHashMap<ProcessId, ProcessFilter>,
    threads: FxHashMap<ThreadId, ThreadFilter>,
    passed: Passed,
    frames: Vec<u8>,
    words: Vec<u64>,
}

/// The oracle's answers, remembered.
#[derive(Debug)]
pub(crate) struct Chooser<O> {
    oracle: O,
    sites: FxHashMap<SiteId, Choice>,
    nodes: FxHashMap<NodeId, bool>,
    tree: CallTree,
}

impl<O: ScopeOracle> Chooser<O> {
    fn choice(&mut self, site: SiteId, sites: &SiteTable) -> Choice {
        let oracle = &mut self.oracle;
        *self
            .sites
            .entry(site)
            .or_insert_with(|| oracle.choose(site, sites))
    }

    /// Is generic code chosen when it runs in context `node`?
    fn chosen_from(&mut self, node: NodeId, sites: &SiteTable) -> bool {
        if let Some(known) = self.nodes.get(&node) {
            return *known;
        }
        let callers: Vec<SiteId> = self.tree.callers(node).collect();
        let chosen = callers
            .into_iter()
            .map(|call| self.choice(call, sites))
            .find(|choice| *choice != Choice::Generic)
            == Some(Choice::Chosen);
        self.nodes.insert(node, chosen);
        chosen
    }
}

impl<O: ScopeOracle> ScopeFilter<O> {
    /// A filter for the scope that `oracle` knows.
    pub fn new(oracle: O) -> Self {
        Self {
            chooser: Chooser {
                oracle,
                sites: FxHashMap::default(),
                nodes: FxHashMap::default(),
                tree: CallTree::default(),
            },
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            passed: Passed::default(),
            frames: Vec::new(),
            words: Vec::new(),
        }
    }

    /// What it was made with.
    pub fn oracle(&self) -> &O {
        &self.chooser.oracle
    }

    /// Everything that passed by so far.
    pub fn passed(&self) -> Passed {
        self.passed
    }

    /// Takes in whole frames of a process's meta log and returns those to be stored now; blocks
    /// are stored when they are first kept. `parent` is whose address space a forked process
    /// began with.
    pub fn meta(&mut self, process: ProcessId, parent: Option<ProcessId>, log: &[u8]) -> &[u8] {
        if !self.processes.contains_key(&process) {
            let inherited = parent.and_then(|p| self.processes.get(&p));
            let new = inherited.map_or_else(ProcessFilter::default, ProcessFilter::fork);
            self.processes.insert(process, new);
        }
        self.frames.clear();
        if let Some(filter) = self.processes.get_mut(&process) {
            filter.meta(log, &mut self.frames);
        }
        &self.frames
    }

    /// `thread` has ended: what is remembered of it is dropped.
    pub fn thread_ended(&mut self, thread: ThreadId) {
        self.threads.remove(&thread);
    }

    /// `process` has ended, and all that it forked is known.
    pub fn process_ended(&mut self, process: ProcessId) {
        self.processes.remove(&process);
    }

    /// Filters what `thread` did. `table` has the tracer's blocks; `sites` is the table they
    /// refer to.
    ///
    /// # Errors
    /// [`FilterError`] for words or frames that contradict themselves.
    pub fn words(
        &mut self,
        process: ProcessId,
        thread: ThreadId,
        words: &[u64],
        table: &BlockTable,
        sites: &mut SiteTable,
    ) -> Result<Filtered<'_>, FilterError> {
        self.frames.clear();
        self.words.clear();
        let filter = self.processes.entry(process).or_default();
        let thread = self.threads.entry(thread).or_default();
        let mut replayer = std::mem::take(&mut thread.replayer);
        let mut execution = Execution {
            thread,
            process: filter,
            chooser: &mut self.chooser,
            passed: &mut self.passed,
            sites,
            xsave: table.xsave(),
            frames: &mut self.frames,
            words: &mut self.words,
            broken: None,
        };
        let replayed = replayer.replay(words, table, &mut execution);
        let broken = execution.broken.take();
        thread.replayer = replayer;
        replayed?;
        thread.settle(&mut self.words);
        match broken {
            Some(error) => Err(error.into()),
            None => Ok(Filtered {
                frames: &self.frames,
                words: &self.words,
                table: &filter.table,
            }),
        }
    }
}

/// Why a recording could not be filtered.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FilterError {
    /// Its words.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Its frames.
    #[error(transparent)]
    Meta(#[from] MetaError),
}
