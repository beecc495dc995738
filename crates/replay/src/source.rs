//! A recording as the simulator's source.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use prestore_sim::{Next, Op, Source};
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::container::{Decoder, RecordingState, Trace};
use prestore_trace::{ProcessId, ThreadId};
use rustc_hash::FxHashMap;

use crate::callers::{Callers, Path};
use crate::cursor::Cursor;
use crate::expand::Expander;
use crate::lane::Lane;
use crate::lanes::{self, Whose};
use crate::lines::one_flush_a_line;
use crate::plan::Plans;
use crate::space::{ProcessMemory, Space};
use crate::stored::StoredBytes;
use crate::{Gaps, HandOffs, Options, SourceError, chosen};

/// Operations that one filling brings, and a block's worth more.
pub(crate) const ENOUGH: usize = 4096;

/// The operations of a recording's threads.
///
/// Threads are decoded as the simulator asks for them. Threads that executed nothing are left
/// out; threads of processes that were not there at the same time share a core, one behind the other:
/// [`TraceSource::threads_of`] tells which threads each core gets. The addresses of processes
/// are kept apart, see [`Space`].
///
/// Memory: at most some 8 MiB a core (a stored block, decoded, and the words being replayed), the
/// blocks of the processes on them, and the marks of [`HandOffs`].
pub struct TraceSource<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) cores: Vec<CoreThreads<'t>>,
    callers: Callers,
    /// Those of processes that have begun and not ended.
    plans: FxHashMap<ProcessId, (Plans, Arc<BlockTable>)>,
    /// Threads of each process that have not ended.
    open: FxHashMap<ProcessId, usize>,
    pub(crate) hand_offs: Arc<HandOffs>,
    decoder: Decoder,
    pub(crate) gaps: Gaps,
    pub(crate) lenient: bool,
    independent_loads: bool,
    /// Operations are told which loads of blocks before they wait for.
    pub(crate) depends: bool,
    /// A process's blocks came without their instructions.
    without_code: bool,
    line: Option<u64>,
    /// What was left out of threads that have ended.
    left_out: Vec<String>,
}

/// The threads of one core.
pub(crate) struct CoreThreads<'t> {
    /// All of them, in order, and how many have begun.
    pub(crate) threads: Vec<Whose>,
    pub(crate) begun: usize,
    pub(crate) current: Option<Current<'t>>,
    /// Simulated instructions of those that have ended.
    pub(crate) instrs: u64,
    /// What its stores write, where that was asked for.
    stored: Option<StoredBytes>,
}

/// The thread that a core is at.
pub(crate) struct Current<'t> {
    pub(crate) thread: ThreadId,
    pub(crate) process: ProcessId,
    pub(crate) cursor: Cursor<'t>,
    pub(crate) lane: Lane,
    pub(crate) path: Path,
}

/// How many threads of the recording are there at once, at most: so many cores a simulation needs. What they did is not
/// read for it.
///
/// # Errors
/// [`SourceError`]: nothing was recorded, or parts are missing and `options` are not lenient.
pub fn threads_at_once(trace: &Trace, options: &Options) -> Result<u32, SourceError> {
    let threads = chosen::threads(trace, options)?;
    Ok(lanes::share(trace, &threads).len() as u32)
}

impl<'t> TraceSource<'t> {
    /// Reads `trace` as `options` say. Where there are several threads, the whole recording is
    /// read once before, for what they hand over to each other ([`HandOffs::infer`]).
    ///
    /// # Errors
    /// [`SourceError`]: nothing was recorded, or parts are missing and `options` are not lenient.
    pub fn open(trace: &'t Trace, options: &Options) -> Result<Self, SourceError> {
        let hand_offs = Arc::new(HandOffs::infer(trace, options)?);
        Self::with_hand_offs(trace, options, hand_offs)
    }

    /// As [`TraceSource::open`], with hand-offs that were inferred before, with the same options:
    /// runs of one recording on several machines share them.
    ///
    /// # Errors
    /// As [`TraceSource::open`].
    pub fn with_hand_offs(
        trace: &'t Trace,
        options: &Options,
        hand_offs: Arc<HandOffs>,
    ) -> Result<Self, SourceError> {
        if options.values {
            chosen::need_values(trace)?;
        }
        let threads = chosen::threads(trace, options)?;
        let mut open: FxHashMap<ProcessId, usize> = FxHashMap::default();
        for &(_, process) in &threads {
            *open.entry(process).or_default() += 1;
        }
        let cores = lanes::share(trace, &threads).into_iter();
        let cores = cores.map(|threads| CoreThreads {
            threads,
            begun: 0,
            current: None,
            instrs: 0,
            stored: options.values.then(StoredBytes::default),
        });
        Ok(Self {
            trace,
            cores: cores.collect(),
            callers: Callers::new(&options.by_caller),
            plans: FxHashMap::default(),
            open,
            hand_offs,
            decoder: chosen::decoder()?,
            gaps: options.gaps.unwrap_or_else(|| Gaps::of(trace.manifest())),
            lenient: options.lenient,
            independent_loads: options.independent_loads,
            depends: true,
            without_code: false,
            line: options.line,
            left_out: Vec::new(),
        })
    }

    /// Which threads of the recording, and of which process, each thread of the source is: one behind
    /// the other.
    pub fn threads_of(&self) -> impl Iterator<Item = &[(ThreadId, ProcessId)]> {
        self.cores.iter().map(|core| core.threads.as_slice())
    }

    /// What the store operation `number` of a core writes, its stores (non-temporal ones and atomics
    /// too) counted from 0 as they were brought: so a store is named by core and number, and operations stay
    /// small. `None`: it was not brought yet, an earlier question was for a later one, it has stored nothing
    /// (a compare and exchange that failed), or that is not known.
    ///
    /// What comes before it is forgotten; what comes behind takes memory until it is asked for. Needs
    /// [`Options::values`], and [`Options::line`] to leave operations as they are.
    pub fn stored(&mut self, core: u32, number: u64) -> Option<&[u8]> {
        let core = self.cores.get_mut(core as usize)?;
        core.stored.as_mut()?.get(number)
    }

    /// The order between threads that is kept.
    pub fn hand_offs(&self) -> &Arc<HandOffs> {
        &self.hand_offs
    }

    /// What the user should know about the recording: that it is not whole, which parts were left
    /// out so far, that some code's accesses are not in it.
    pub fn notes(&self) -> Vec<String> {
        let manifest = self.trace.manifest();
        let partial = match manifest.state {
            RecordingState::Complete => None,
            RecordingState::Recording => Some("the recording was killed, or still runs".to_owned()),
            RecordingState::Aborted => Some(
                (manifest.reason.clone()).unwrap_or_else(|| "the recording was aborted".into()),
            ),
        };
        let mut notes: Vec<String> = partial.into_iter().collect();
        notes.extend(self.trace.damage().iter().map(ToString::to_string));
        notes.extend(self.left_out.iter().cloned());
        let current = self.cores.iter().filter_map(|c| c.current.as_ref());
        notes.extend(current.flat_map(|c| c.cursor.notes()));
        notes.extend(self.hand_offs.notes());
        if self.without_code && !self.independent_loads {
            notes.push(
                "recorded without the program's instructions (by an older version, or imported): loads do not wait for the \
                 loads that bring their addresses, and lists and trees come out faster than they are; record again"
                    .to_owned(),
            );
        }
        if manifest.info.scope.mode == "functions" {
            notes.push(
                "recorded with --scope functions: other accesses take no part, caches are emptier of \
                 them than on a real machine, and threads do not wait for locks and messages \
                 of other functions"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Source for TraceSource<'_> {
    type Error = SourceError;

    fn threads(&self) -> u32 {
        self.cores.len() as u32
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, SourceError> {
        let before = ops.len();
        let next = self.expand(thread, ops)?;
        if let Some(line) = self.line {
            one_flush_a_line(ops, before, line);
        }
        Ok(next)
    }
}

impl<'t> TraceSource<'t> {
    /// The next operations of a core's threads, as they were recorded.
    fn expand(&mut self, core: u32, ops: &mut Vec<Op>) -> Result<Next, SourceError> {
        let at = core as usize;
        let before = ops.len();
        while ops.len() == before {
            let current = match self.cores.get_mut(at).map(|c| c.current.take()) {
                None => return Ok(Next::End { instrs: 0 }),
                Some(Some(current)) => Some(current),
                Some(None) => self.begin(at)?,
            };
            let Some(mut current) = current else {
                let instrs = self.cores[at].instrs;
                return Ok(Next::End { instrs });
            };
            if self.replay(at, &mut current, ops)? {
                self.cores[at].instrs = current.lane.instr(current.cursor.instrs());
                self.end(&current);
            } else {
                self.cores[at].current = Some(current);
            }
        }
        Ok(Next::More)
    }

    /// The next thread of a core; `None`: there is none.
    fn begin(&mut self, core: usize) -> Result<Option<Current<'t>>, SourceError> {
        let core = &mut self.cores[core];
        let Some(&(thread, process)) = core.threads.get(core.begun) else {
            return Ok(None);
        };
        core.begun += 1;
        let marks = self.hand_offs.marks(thread);
        Ok(Some(Current {
            thread,
            process,
            cursor: Cursor::new(self.trace, thread, self.lenient)?,
            lane: Lane::new(Space::of(process), self.gaps, marks, core.instrs),
            path: Path::default(),
        }))
    }

    /// Appends operations of a thread until there are enough; true at its end.
    fn replay(
        &mut self,
        core: usize,
        current: &mut Current<'t>,
        ops: &mut Vec<Op>,
    ) -> Result<bool, SourceError> {
        let (process, before) = (current.process, ops.len());
        let (plans, table) = match self.plans.entry(process) {
            Entry::Occupied(known) => &*known.into_mut(),
            Entry::Vacant(new) => {
                let table = self.trace.table(process)?;
                let is_known = |b: &Block| !b.code.is_empty();
                let any = table.iter().next().is_some();
                self.without_code |= any && !table.iter().any(is_known);
                let plans = Plans::new(&table, Space::of(process), !self.independent_loads);
                &*new.insert((plans, table))
            }
        };
        let marks = self.hand_offs.marks(current.thread);
        let memory = ProcessMemory::of(self.trace, process, table);
        let (cursor, lane) = (&mut current.cursor, &mut current.lane);
        while cursor.load(&mut self.decoder)? {
            lane.gap(cursor.take_missing());
            let known = ops.len();
            let mut expander = Expander {
                lane,
                marks,
                table,
                plans,
                callers: &self.callers,
                path: &mut current.path,
                stored: self.cores[core].stored.as_mut(),
                ops,
                depends: self.depends,
                enough: before + ENOUGH,
            };
            cursor.replay(&mut expander)?;
            memory.place_all(&mut ops[known..]);
            let awaits = self.cores[core]
                .stored
                .as_ref()
                .is_some_and(StoredBytes::awaits);
            if ops.len() >= before + ENOUGH && !awaits {
                return Ok(false);
            }
        }
        lane.end(cursor.instrs(), marks, ops);
        Ok(true)
    }

    /// A thread has ended; with the last of its process go its plans.
    fn end(&mut self, thread: &Current<'_>) {
        self.left_out.extend(thread.cursor.notes());
        let open = self.open.entry(thread.process).or_default();
        *open = open.saturating_sub(1);
        if *open == 0 {
            self.plans.remove(&thread.process);
        }
    }
}
