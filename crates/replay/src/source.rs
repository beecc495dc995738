//! A recording as the simulator's source.

use std::sync::Arc;

use prestore_sim::{Next, Op, Source};
use prestore_trace::container::{Decoder, RecordingState, Trace};
use prestore_trace::{ProcessId, ThreadId};
use rustc_hash::FxHashMap;

use crate::callers::{Callers, Path};
use crate::cursor::Cursor;
use crate::expand::Expander;
use crate::lane::Lane;
use crate::lines::one_flush_a_line;
use crate::plan::Plans;
use crate::space::Space;
use crate::{Gaps, HandOffs, Options, SourceError, chosen};

/// Operations that one filling brings, and a block's worth more.
const ENOUGH: usize = 4096;

/// The operations of a recording's threads.
///
/// Threads are decoded as the simulator asks for them. Threads that executed nothing are left
/// out; [`TraceSource::threads_of`] tells which thread each core gets. The addresses of processes
/// are kept apart, see [`Space`].
///
/// Memory: at most some 8 MiB a thread (a stored block, decoded, and the words being replayed),
/// and the marks of [`HandOffs`].
pub struct TraceSource<'t> {
    trace: &'t Trace,
    threads: Vec<ThreadId>,
    lanes: Vec<(Cursor<'t>, Lane, Path)>,
    callers: Callers,
    plans: FxHashMap<ProcessId, Plans>,
    processes: Vec<ProcessId>,
    hand_offs: Arc<HandOffs>,
    decoder: Decoder,
    line: Option<u64>,
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
        let threads = chosen::threads(trace, options)?;
        let gaps = options.gaps.unwrap_or_else(|| Gaps::of(trace.manifest()));
        let (mut lanes, mut processes) = (Vec::new(), Vec::new());
        let mut plans = FxHashMap::default();
        for &(thread, process) in &threads {
            let cursor = Cursor::new(trace, thread, options.lenient)?;
            let lane = Lane::new(Space::of(process), gaps, hand_offs.marks(thread));
            lanes.push((cursor, lane, Path::default()));
            processes.push(process);
            let of_process = || Plans::new(trace.table(process), Space::of(process));
            plans.entry(process).or_insert_with(of_process);
        }
        Ok(Self {
            trace,
            threads: threads.iter().map(|t| t.0).collect(),
            lanes,
            callers: Callers::new(&options.by_caller),
            plans,
            processes,
            hand_offs,
            decoder: chosen::decoder()?,
            line: options.line,
        })
    }

    /// Which thread of the recording each thread of the source is.
    pub fn threads_of(&self) -> &[ThreadId] {
        &self.threads
    }

    /// The process of each thread of the source.
    pub fn processes_of(&self) -> &[ProcessId] {
        &self.processes
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
        let found = self.lanes.iter().flat_map(|l| l.0.damage());
        let damage = self.trace.damage().iter().chain(found);
        let mut notes: Vec<String> = partial.into_iter().collect();
        notes.extend(damage.map(ToString::to_string));
        if manifest.info.scope.mode == "functions" {
            notes.push(
                "recorded with --scope functions: other accesses take no part, and caches are \
                 emptier of them than on a real machine"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Source for TraceSource<'_> {
    type Error = SourceError;

    fn threads(&self) -> u32 {
        self.lanes.len() as u32
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

impl TraceSource<'_> {
    /// The next operations of `thread`, as they were recorded.
    fn expand(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, SourceError> {
        let at = thread as usize;
        let Some((cursor, lane, path)) = self.lanes.get_mut(at) else {
            return Ok(Next::End { instrs: 0 });
        };
        let Some(plans) = self.plans.get(&self.processes[at]) else {
            return Ok(Next::End { instrs: 0 });
        };
        let marks = self.hand_offs.marks(self.threads[at]);
        let before = ops.len();
        while cursor.load(&mut self.decoder)? {
            lane.gap(cursor.take_missing());
            let mut expander = Expander {
                lane,
                marks,
                table: cursor.table(),
                plans,
                callers: &self.callers,
                path,
                ops,
                enough: before + ENOUGH,
            };
            cursor.replay(&mut expander)?;
            if ops.len() >= before + ENOUGH {
                return Ok(Next::More);
            }
        }
        let instrs = cursor.instrs();
        lane.end(instrs, marks, ops);
        if ops.len() > before {
            return Ok(Next::More);
        }
        Ok(Next::End {
            instrs: lane.instr(instrs),
        })
    }
}
