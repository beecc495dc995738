//! Everything that a recording knows about its processes and threads.

use std::collections::BTreeMap;

use prestore_trace::block::UnknownOpcode;
use prestore_trace::record::{FIRST_BLOCK, id};
use prestore_trace::{ProcessId, SiteTable, ThreadId};

use super::build_ids::BuildIds;
use super::process::Process;
use super::ring::Ring;
use crate::channel::{CountReader, FileName, RingReader, Session, Tally};
use crate::{Counts, Coverage, Note, ProcessInfo, RecordError, Sink, Stream};

/// A thread's counters and where they belong.
struct Counter {
    reader: CountReader,
    process: ProcessId,
    stream: Stream,
}

pub(super) struct Pump {
    session: Session,
    sites: SiteTable,
    build_ids: BuildIds,
    /// Those that have not ended.
    processes: BTreeMap<ProcessId, Process>,
    rings: Vec<Ring>,
    counters: Vec<Counter>,
    begun: u32,
    threads: u32,
    torn: u32,
    coverage: Coverage,
    /// Of processes that have ended.
    unknown: Vec<UnknownOpcode>,
}

impl Pump {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            sites: SiteTable::default(),
            build_ids: BuildIds::default(),
            processes: BTreeMap::new(),
            rings: Vec::new(),
            counters: Vec::new(),
            begun: 0,
            threads: 0,
            torn: 0,
            coverage: Coverage::default(),
            unknown: Vec::new(),
        }
    }

    /// What processes told the user since the last call.
    pub(super) fn new_notes(&mut self) -> impl Iterator<Item = Note> {
        std::iter::from_fn(|| self.session.next_note())
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn into_sites(self) -> SiteTable {
        self.sites
    }

    pub(super) fn processes(&self) -> u32 {
        self.begun
    }

    pub(super) fn threads(&self) -> u32 {
        self.threads
    }

    pub(super) fn torn_threads(&self) -> u32 {
        self.torn
    }

    /// What the engine could not decode, of all processes.
    pub(super) fn unknown_opcodes(&self) -> Vec<UnknownOpcode> {
        let mut all = self.unknown.clone();
        for process in self.processes.values() {
            add_unknown(&mut all, process.table.unknown_opcodes());
        }
        all
    }

    /// What all threads recorded and skipped, those that still run included.
    pub(super) fn coverage(&self) -> Coverage {
        let rings = self.rings.iter().map(Ring::tally);
        let counters = self.counters.iter().map(|c| c.reader.tally());
        rings.chain(counters).fold(self.coverage, add)
    }

    /// Takes in new files and delivers the oldest waiting buffer; true when there was any. One
    /// buffer at a time: behind a slow taker there always is one, and neither new threads nor the
    /// user must wait until there is none.
    pub(super) fn step<S: Sink>(&mut self, sink: &mut S) -> Result<bool, RecordError> {
        let progress = self.take_new_files(sink)?;
        let Some(oldest) = self.oldest() else {
            return Ok(progress);
        };
        self.deliver(oldest, sink)?;
        self.count(oldest, sink);
        self.rings[oldest].reader.release();
        Ok(true)
    }

    /// Tells a thread how far it and its process are, by what was delivered.
    fn count<S: Sink>(&mut self, at: usize, sink: &S) {
        let ring = &mut self.rings[at];
        if let Some(process) = self.processes.get_mut(&ring.process) {
            ring.count(sink.executed(ring.stream), process);
        }
    }

    /// Gives all waiting buffers back unread.
    pub(super) fn discard(&mut self) -> Result<(), RecordError> {
        for ring in &mut self.rings {
            while ring.reader.pending() > 0 {
                ring.reader.release();
            }
        }
        Ok(())
    }

    /// Drops threads and processes that have ended, and reads what those left that were killed.
    pub(super) fn bury<S: Sink>(&mut self, sink: &mut S) -> Result<(), RecordError> {
        let processes = self.processes.iter();
        let dead: Vec<ProcessId> = processes
            .filter(|(_, p)| p.is_dead())
            .map(|(id, _)| *id)
            .collect();
        // A child shows itself before it lets go of its parent: those of the dead are here now.
        self.take_new_files(sink)?;
        for &process in &dead {
            // What it said last, when its threads had nothing to say any more.
            self.read_log(process, sink)?;
        }
        let mut at = 0;
        while at < self.rings.len() {
            let ring = &self.rings[at];
            // In this order: what was handed over before the end is seen as pending.
            let (ended, idle) = (ring.reader.ended(), ring.reader.pending() == 0);
            if idle && (ended || dead.contains(&ring.process)) {
                if !ended {
                    self.deliver_torn(at, sink)?;
                    self.count(at, sink);
                }
                let ring = self.rings.swap_remove(at);
                self.coverage = add(self.coverage, ring.tally());
                sink.thread_ended(ring.stream)?;
            } else {
                at += 1;
            }
        }
        self.bury_counters(&dead, sink)?;
        for process in dead {
            self.end(process, sink)?;
        }
        Ok(())
    }

    /// Forgets a dead process, if all that its threads left was taken.
    fn end<S: Sink>(&mut self, process: ProcessId, sink: &mut S) -> Result<(), RecordError> {
        let mut of_rings = self.rings.iter().map(|r| r.process);
        let mut of_counters = self.counters.iter().map(|c| c.process);
        if of_rings.any(|p| p == process) || of_counters.any(|p| p == process) {
            return Ok(());
        }
        if let Some(ended) = self.processes.remove(&process) {
            add_unknown(&mut self.unknown, ended.table.unknown_opcodes());
            sink.process_ended(process)?;
        }
        Ok(())
    }

    fn bury_counters<S: Sink>(
        &mut self,
        dead: &[ProcessId],
        sink: &mut S,
    ) -> Result<(), RecordError> {
        let mut at = 0;
        while at < self.counters.len() {
            let process = self.counters[at].process;
            if !dead.contains(&process) && !self.counters[at].reader.ended() {
                at += 1;
                continue;
            }
            let counter = self.counters.swap_remove(at);
            self.coverage = add(self.coverage, counter.reader.tally());
            self.read_log(process, sink)?;
            let Some(Process { table, .. }) = self.processes.get(&process) else {
                continue;
            };
            let mut counts = Counts::default();
            for block in table.iter() {
                match counter.reader.count(block.id) {
                    Some(0) => {}
                    Some(n) => counts.blocks.push((block.id, n)),
                    None => counts.lost += 1,
                }
            }
            sink.counts(counter.stream, &counts, table, &mut self.sites)?;
            sink.thread_ended(counter.stream)?;
        }
        Ok(())
    }

    /// Is nothing left that could deliver?
    pub(super) fn all_ended(&self) -> bool {
        self.processes.is_empty()
    }

    /// Numbers of the processes that have not ended.
    pub(super) fn living(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = self.processes.values().map(|p| p.pid).collect();
        pids.sort_unstable();
        pids
    }

    fn oldest(&self) -> Option<usize> {
        let begun = |ring: &Ring| match ring.reader.front()? {
            &[header, ticks, ..] if header as u32 == id::TIME => Some(ticks),
            _ => Some(0),
        };
        let waiting = self.rings.iter().enumerate();
        waiting
            .filter_map(|(i, ring)| Some((begun(ring)?, i)))
            .min()
            .map(|(_, i)| i)
    }

    fn read_log<S: Sink>(&mut self, process: ProcessId, sink: &mut S) -> Result<(), RecordError> {
        let Some(process) = self.processes.get_mut(&process) else {
            return Ok(());
        };
        let frames = process.read_log(&mut self.sites, &mut self.build_ids)?;
        if !frames.is_empty() {
            sink.meta(process.id, &frames, &process.table)?;
        }
        Ok(())
    }

    fn deliver<S: Sink>(&mut self, at: usize, sink: &mut S) -> Result<(), RecordError> {
        let process = self.rings[at].process;
        self.read_log(process, sink)?;
        let ring = &self.rings[at];
        let words = ring.reader.front().unwrap_or(&[]);
        if let Some(Process { table, .. }) = self.processes.get(&process) {
            sink.words(ring.stream, words, table, &mut self.sites)?;
        }
        Ok(())
    }

    /// Delivers what a thread had not handed over when its process died. Nothing but a time stamp:
    /// it lost nothing, as one that executed another program.
    fn deliver_torn<S: Sink>(&mut self, at: usize, sink: &mut S) -> Result<(), RecordError> {
        let process = self.rings[at].process;
        self.read_log(process, sink)?;
        let ring = &self.rings[at];
        let Some(Process { table, .. }) = self.processes.get(&process) else {
            return Ok(());
        };
        let words = ring.reader.torn();
        let only_time = words.first().is_none_or(|w| *w as u32 == id::TIME)
            && words.get(2).is_none_or(|w| *w as u32 == id::END);
        let whole = whole_records(words, table);
        self.torn += u32::from(!only_time);
        // The time alone tells when it ended.
        sink.words(ring.stream, &words[..whole], table, &mut self.sites)?;
        Ok(())
    }

    fn take_new_files<S: Sink>(&mut self, sink: &mut S) -> Result<bool, RecordError> {
        let files = self.session.new_files().map_err(RecordError::Channel)?;
        let any = !files.is_empty();
        for (path, name) in files {
            match name {
                FileName::Meta { pid, stamp } => {
                    let id = ProcessId(self.begun);
                    self.begun += 1;
                    let new = Process::open(&path, id, pid, stamp).map_err(RecordError::Channel)?;
                    self.add_process(new, sink)?;
                }
                FileName::Ring { .. } => {
                    let reader = RingReader::open(&path).map_err(RecordError::Channel)?;
                    let found = self.stream(reader.pid, reader.stamp, reader.tid, sink)?;
                    if let Some((process, stream)) = found {
                        self.rings.push(Ring::new(reader, process, stream));
                    }
                }
                FileName::Count { .. } => {
                    let reader = CountReader::open(&path).map_err(RecordError::Channel)?;
                    let found = self.stream(reader.pid, reader.stamp, reader.tid, sink)?;
                    if let Some((process, stream)) = found {
                        self.counters.push(Counter {
                            reader,
                            process,
                            stream,
                        });
                    }
                }
            }
        }
        Ok(any)
    }

    fn add_process<S: Sink>(&mut self, mut new: Process, sink: &mut S) -> Result<(), RecordError> {
        let mut frames = new.read_log(&mut self.sites, &mut self.build_ids)?;
        let facts = *new.table.process();
        let mut all = self.processes.iter();
        let origin = all.find(|(_, p)| p.table.process().began(&facts));
        let origin = origin.map(|(id, _)| *id);
        if let Some(origin) = origin {
            // The child's code refers to blocks that its parent has described by now.
            self.read_log(origin, sink)?;
            if let Some(parent) = self.processes.get(&origin) {
                new.table.inherit(&parent.table);
            }
        }
        sink.process(ProcessInfo {
            id: new.id,
            pid: new.pid,
            parent: facts.parent,
            origin,
        })?;
        frames.extend(new.read_log(&mut self.sites, &mut self.build_ids)?);
        sink.meta(new.id, &frames, &new.table)?;
        self.processes.insert(new.id, new);
        Ok(())
    }

    fn stream<S: Sink>(
        &mut self,
        pid: u32,
        stamp: u64,
        tid: u32,
        sink: &mut S,
    ) -> Result<Option<(ProcessId, Stream)>, RecordError> {
        let mut all = self.processes.values();
        let Some(owner) = all.find(|p| p.pid == pid && p.stamp == stamp) else {
            return Ok(None);
        };
        let process = owner.id;
        let stream = Stream {
            thread: ThreadId(self.threads),
            process,
            tid,
        };
        self.threads += 1;
        sink.thread(stream)?;
        Ok(Some((process, stream)))
    }
}

/// The same instruction of several processes is one.
fn add_unknown(all: &mut Vec<UnknownOpcode>, more: &[UnknownOpcode]) {
    for new in more {
        match all
            .iter_mut()
            .find(|u| u.site == new.site && u.bytes == new.bytes)
        {
            Some(known) => known.executions = known.executions.saturating_add(new.executions),
            None => all.push(new.clone()),
        }
    }
}

fn add(sum: Coverage, tally: Tally) -> Coverage {
    Coverage {
        recorded: sum.recorded.wrapping_add(tally.recorded),
        skipped: sum.skipped.wrapping_add(tally.skipped),
        regions: sum.regions.wrapping_add(tally.regions),
    }
}

/// How many of a torn buffer's words are whole records: up to the first zero header, and without
/// the last block execution, whose values may not all have been written.
fn whole_records(words: &[u64], table: &prestore_trace::block::BlockTable) -> usize {
    let (mut at, mut safe) = (0, 0);
    while at < words.len() && words[at] as u32 != id::END {
        let header = words[at];
        let len = if (header as u32) < FIRST_BLOCK {
            (header >> 32) as usize
        } else {
            match table.get(header as u32) {
                Some(block) => block.words as usize,
                None => break,
            }
        };
        safe = at;
        at += 1 + len;
        if (header as u32) < FIRST_BLOCK {
            safe = at.min(words.len());
        }
    }
    safe
}
