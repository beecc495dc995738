//! All threads in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Damage, ReadError, Segment, StreamReader};
use crate::container::codec::Decoder;
use crate::{ProcessId, ThreadId};

/// Reads the words of all threads, segment by segment, in order of the time records they begin
/// with. Records inside a segment keep their thread's order; which of two overlapping segments
/// came first is known only as well as time records are frequent.
///
/// Memory: one decoded stored block for each thread that has begun and not ended, and the block tables
/// of their processes.
pub struct Merged<'t> {
    streams: Vec<StreamReader<'t>>,
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    decoder: Decoder,
    /// The stream whose segment was handed out last, to be put back into the queue.
    pending: Option<usize>,
    /// Streams of each process that have not ended.
    open: FxHashMap<ProcessId, usize>,
    ended: Vec<ProcessId>,
    ended_threads: Vec<(ProcessId, ThreadId)>,
}

impl<'t> Merged<'t> {
    pub(super) fn new(streams: Vec<StreamReader<'t>>) -> Result<Self, ReadError> {
        let mut open: FxHashMap<ProcessId, usize> = FxHashMap::default();
        for process in streams.iter().filter_map(StreamReader::process) {
            *open.entry(process).or_default() += 1;
        }
        let keys = streams.iter().enumerate();
        let queue = keys.filter_map(|(i, s)| Some(Reverse((s.next_ticks()?, i))));
        Ok(Self {
            queue: queue.collect(),
            streams,
            decoder: Decoder::new().map_err(|e| ReadError::Io {
                path: "zstd".into(),
                source: std::io::Error::other(e),
            })?,
            pending: None,
            open,
            ended: Vec::new(),
            ended_threads: Vec::new(),
        })
    }

    /// The next segment of any thread; `None` at the end.
    ///
    /// # Errors
    /// As [`StreamReader::next_segment`].
    pub fn next_segment(&mut self) -> Result<Option<Segment<'_>>, ReadError> {
        loop {
            if let Some(i) = self.pending.take() {
                match self.streams[i].next_ticks() {
                    Some(ticks) => self.queue.push(Reverse((ticks, i))),
                    None => self.end(i),
                }
            }
            let Some(Reverse((_, i))) = self.queue.pop() else {
                return Ok(None);
            };
            self.pending = Some(i);
            if self.streams[i].is_at_end(&mut self.decoder)? {
                continue;
            }
            return self.streams[i].next_segment(&mut self.decoder);
        }
    }

    /// Threads of which nothing more will come, each told once.
    pub fn take_ended_threads(&mut self) -> Vec<(ProcessId, ThreadId)> {
        std::mem::take(&mut self.ended_threads)
    }

    /// Processes of which nothing more will come, each told once.
    pub fn take_ended(&mut self) -> Vec<ProcessId> {
        std::mem::take(&mut self.ended)
    }

    fn end(&mut self, stream: usize) {
        let stream = &mut self.streams[stream];
        stream.let_go();
        let Some(process) = stream.process() else {
            return;
        };
        self.ended_threads.push((process, stream.thread()));
        if let Some(open) = self.open.get_mut(&process) {
            *open -= 1;
            if *open == 0 {
                self.ended.push(process);
            }
        }
    }

    /// Corrupt stored blocks that were left out so far.
    pub fn damage(&self) -> impl Iterator<Item = &Damage> {
        self.streams.iter().flat_map(|s| s.damage())
    }
}
