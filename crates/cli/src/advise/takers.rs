//! Takers that analyse: while the program runs, or only count.

use std::collections::BTreeMap;

use prestore_dirtbuster::Analyzer;
use prestore_trace::block::BlockTable;
use prestore_trace::{ProcessId, SiteId, SiteTable};
use prestore_tracer::{Counts, ProcessInfo, Sink, SinkError, Stream};

use crate::naming::Namer;
use crate::progress::Progress;
use crate::record::Recorder;

/// Analyses, and stores too if asked.
pub struct Advisor {
    /// The analysis.
    pub analyzer: Analyzer<Namer>,
    /// Also stores.
    pub recorder: Option<Recorder>,
    /// Tells the user.
    pub progress: Progress,
}

impl Sink for Advisor {
    fn process(&mut self, info: ProcessInfo) -> Result<(), SinkError> {
        self.recorder.as_mut().map_or(Ok(()), |r| r.process(info))
    }

    fn meta(
        &mut self,
        process: ProcessId,
        frames: &[u8],
        table: &BlockTable,
    ) -> Result<(), SinkError> {
        let recorder = self.recorder.as_mut();
        recorder.map_or(Ok(()), |r| r.meta(process, frames, table))
    }

    fn thread(&mut self, stream: Stream) -> Result<(), SinkError> {
        self.recorder.as_mut().map_or(Ok(()), |r| r.thread(stream))
    }

    fn words(
        &mut self,
        stream: Stream,
        words: &[u64],
        table: &BlockTable,
        sites: &mut SiteTable,
    ) -> Result<(), SinkError> {
        self.progress.add(words.len());
        if let Some(recorder) = &mut self.recorder {
            recorder.words(stream, words, table, sites)?;
        }
        let (process, thread) = (stream.process, stream.thread);
        let fed = self.analyzer.feed(process, thread, table, sites, words);
        fed.map(drop).map_err(|e| SinkError(Box::new(e)))
    }

    fn executed(&self, stream: Stream) -> u64 {
        self.analyzer.executed(stream.process, stream.thread)
    }

    fn thread_ended(&mut self, stream: Stream) -> Result<(), SinkError> {
        self.analyzer.end_thread(stream.process, stream.thread);
        let recorder = self.recorder.as_mut();
        recorder.map_or(Ok(()), |r| r.thread_ended(stream))
    }

    fn process_ended(&mut self, process: ProcessId) -> Result<(), SinkError> {
        self.analyzer.end(process);
        let recorder = self.recorder.as_mut();
        recorder.map_or(Ok(()), |r| r.process_ended(process))
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        self.recorder.as_mut().map_or(Ok(()), Sink::tick)
    }
}

/// Sums up block counts.
#[derive(Default)]
pub struct Counter {
    /// Executed stores of each store instruction.
    pub stores: BTreeMap<SiteId, u64>,
    /// Instructions executed.
    pub instructions: u64,
    /// Blocks whose counts are lost.
    pub lost: u64,
    /// The sites that `stores` speaks of.
    pub sites: SiteTable,
}

impl Counter {
    /// All stores.
    pub fn total_stores(&self) -> u64 {
        self.stores.values().sum()
    }
}

impl Sink for Counter {
    fn counts(
        &mut self,
        _stream: Stream,
        counts: &Counts,
        table: &BlockTable,
        _sites: &mut SiteTable,
    ) -> Result<(), SinkError> {
        self.lost += counts.lost;
        let blocks = counts.blocks.iter();
        for (block, n) in blocks.filter_map(|(id, n)| Some((table.get(*id)?, *n))) {
            self.instructions += n * u64::from(block.instrs);
            for store in block.refs.iter().filter(|r| r.kind.writes()) {
                *self.stores.entry(store.site).or_default() += n;
            }
        }
        Ok(())
    }
}
