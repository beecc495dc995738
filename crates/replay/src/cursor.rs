//! One thread's words, replayed as far as they are asked for.

use std::sync::Arc;

use prestore_trace::ThreadId;
use prestore_trace::block::BlockTable;
use prestore_trace::container::{Decoder, StreamReader, Trace};
use prestore_trace::replay::{ExecSink, ReplayError, Replayer};

use crate::SourceError;

/// Where in a thread's words a reader is.
///
/// Memory: one decoded stored block (at most 4 MiB), and the words of a segment again.
pub(crate) struct Cursor<'t> {
    trace: &'t Trace,
    table: Arc<BlockTable>,
    stream: StreamReader<'t>,
    replayer: Replayer,
    thread: ThreadId,
    lenient: bool,
    words: Vec<u64>,
    at: usize,
    /// Words replayed of segments before this one.
    before: u64,
    /// Where a damaged part left out ended last: instructions that are missing.
    missing: u64,
    ended: bool,
    /// Why it ended before its words did.
    given_up: Option<ReplayError>,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(
        trace: &'t Trace,
        thread: ThreadId,
        lenient: bool,
    ) -> Result<Self, SourceError> {
        Ok(Self {
            trace,
            table: Arc::default(),
            stream: trace.stream(thread, 0)?,
            replayer: Replayer::default(),
            thread,
            lenient,
            words: Vec::new(),
            at: 0,
            before: 0,
            missing: 0,
            ended: false,
            given_up: None,
        })
    }

    /// One that begins with stored block `block` of the thread, before which it had executed `instrs` instructions.
    pub(crate) fn at_block(
        trace: &'t Trace,
        thread: ThreadId,
        lenient: bool,
        (block, instrs): (usize, u64),
    ) -> Result<Self, SourceError> {
        Ok(Self {
            stream: trace.stream(thread, block)?,
            replayer: Replayer::starting_at(instrs),
            ..Self::new(trace, thread, lenient)?
        })
    }

    /// The blocks that the words refer to.
    pub(crate) fn table(&self) -> Arc<BlockTable> {
        Arc::clone(&self.table)
    }

    /// When the next segment begins, before it is loaded (0: not known); `None` at the end.
    pub(crate) fn next_ticks(&self) -> Option<u64> {
        self.stream.next_ticks()
    }

    /// Instructions executed so far, recorded or not.
    pub(crate) fn instrs(&self) -> u64 {
        self.replayer.instrs()
    }

    /// Instructions in damaged parts that were left out since this was asked last.
    pub(crate) fn take_missing(&mut self) -> u64 {
        std::mem::take(&mut self.missing)
    }

    /// What was left out so far, in words.
    pub(crate) fn notes(&self) -> Vec<String> {
        let thread = self.thread.0;
        let given_up = (self.given_up.iter())
            .map(|error| format!("thread {thread} was read in part: {error}"));
        let damage = self.stream.damage().iter().map(ToString::to_string);
        damage.chain(given_up).collect()
    }

    /// Makes sure that there are words to replay; false at the end.
    pub(crate) fn load(&mut self, decoder: &mut Decoder) -> Result<bool, SourceError> {
        while self.at >= self.words.len() && !self.ended {
            let Some(segment) = self.stream.next_segment(decoder)? else {
                self.ended = true;
                self.table = Arc::default();
                self.before += self.words.len() as u64;
                self.words = Vec::new();
                break;
            };
            self.before += self.words.len() as u64;
            self.words.clear();
            self.words.extend_from_slice(segment.words);
            self.at = 0;
            self.table = self.trace.table(segment.process)?;
            if let Some(instrs) = segment.instrs
                && instrs != self.replayer.instrs()
            {
                self.missing += instrs.wrapping_sub(self.replayer.instrs());
                self.replayer = Replayer::starting_at(instrs);
            }
        }
        Ok(!self.ended)
    }

    /// Words replayed so far.
    pub(crate) fn words_done(&self) -> u64 {
        self.before + self.at.min(self.words.len()) as u64
    }

    /// Replays what [`Cursor::load`] has loaded, until `sink` is full.
    pub(crate) fn replay<S: ExecSink>(&mut self, sink: &mut S) -> Result<(), SourceError> {
        self.replay_to(u64::MAX, sink)
    }

    /// As [`Cursor::replay`], but only the first `end` words of the thread, which are whole records.
    pub(crate) fn replay_to<S: ExecSink>(
        &mut self,
        end: u64,
        sink: &mut S,
    ) -> Result<(), SourceError> {
        let end = end.saturating_sub(self.before).min(self.words.len() as u64) as usize;
        let words = self.words.get(self.at..end).unwrap_or(&[]);
        match self.replayer.replay(words, &self.table, sink) {
            // Stored words are whole records: what is left without need ends the segment.
            Ok(n) => {
                self.at = if sink.full() || end < self.words.len() {
                    self.at + n
                } else {
                    self.words.len()
                }
            }
            Err(error) if self.lenient => {
                self.ended = true;
                self.given_up = Some(error);
            }
            Err(source) => {
                return Err(SourceError::Replay {
                    dir: self.trace.dir().to_owned(),
                    thread: self.thread,
                    instrs: self.replayer.instrs(),
                    source,
                });
            }
        }
        Ok(())
    }
}
