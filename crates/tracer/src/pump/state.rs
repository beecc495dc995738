//! Everything that a recording knows about its processes and threads.

use prestore_trace::block::UnknownOpcode;
use prestore_trace::record::{FIRST_BLOCK, id};
use prestore_trace::{ProcessId, SiteTable, ThreadId};

use super::process::Process;
use crate::channel::{CountReader, FileName, RingReader, Session, Tally};
use crate::{Counts, Coverage, Note, ProcessInfo, RecordError, Sink, Stream};

/// A thread's ring and where it belongs.
struct Ring {
    reader: RingReader,
    process: usize,
    stream: Stream,
}

/// A thread's counters and where they belong.
struct Counter {
    reader: CountReader,
    process: usize,
    stream: Stream,
}

pub(super) struct Pump {
    session: Session,
    sites: SiteTable,
    processes: Vec<Process>,
    rings: Vec<Ring>,
    counters: Vec<Counter>,
    threads: u32,
    torn: u32,
    coverage: Coverage,
}

impl Pump {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            sites: SiteTable::default(),
            processes: Vec::new(),
            rings: Vec::new(),
            counters: Vec::new(),
            threads: 0,
            torn: 0,
            coverage: Coverage::default(),
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
        self.processes.len() as u32
    }

    pub(super) fn threads(&self) -> u32 {
        self.threads
    }

    pub(super) fn torn_threads(&self) -> u32 {
        self.torn
    }

    /// What the engine could not decode, of all processes.
    pub(super) fn unknown_opcodes(&self) -> Vec<UnknownOpcode> {
        let tables = self.processes.iter().map(|p| &p.table);
        tables.flat_map(|t| t.unknown_opcodes().to_vec()).collect()
    }

    /// What all threads recorded and skipped, those that still run included.
    pub(super) fn coverage(&self) -> Coverage {
        let rings = self.rings.iter().map(|r| r.reader.tally());
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
        self.rings[oldest].reader.release();
        Ok(true)
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

    /// Drops threads that have ended, and reads what those left that were killed. To be called
    /// when [`Pump::step`] found nothing.
    pub(super) fn bury<S: Sink>(&mut self, sink: &mut S) -> Result<(), RecordError> {
        let dead: Vec<bool> = self.processes.iter().map(Process::is_dead).collect();
        for (process, dead) in dead.iter().enumerate() {
            if *dead {
                // What it said last, when its threads had nothing to say any more.
                self.read_log(process, sink)?;
            }
        }
        let mut at = 0;
        while at < self.rings.len() {
            let ring = &self.rings[at];
            // In this order: what was handed over before the end is seen as pending.
            let (ended, idle) = (ring.reader.ended(), ring.reader.pending() == 0);
            if idle && (ended || dead[ring.process]) {
                if !ended {
                    self.deliver_torn(at, sink)?;
                }
                let ring = self.rings.swap_remove(at);
                self.coverage = add(self.coverage, ring.reader.tally());
            } else {
                at += 1;
            }
        }
        self.bury_counters(&dead, sink)
    }

    fn bury_counters<S: Sink>(&mut self, dead: &[bool], sink: &mut S) -> Result<(), RecordError> {
        let mut at = 0;
        while at < self.counters.len() {
            let process = self.counters[at].process;
            if !dead[process] && !self.counters[at].reader.ended() {
                at += 1;
                continue;
            }
            let counter = self.counters.swap_remove(at);
            self.coverage = add(self.coverage, counter.reader.tally());
            self.read_log(process, sink)?;
            let table = &self.processes[process].table;
            let mut counts = Counts::default();
            for block in table.iter() {
                match counter.reader.count(block.id) {
                    Some(0) => {}
                    Some(n) => counts.blocks.push((block.id, n)),
                    None => counts.lost += 1,
                }
            }
            sink.counts(counter.stream, &counts, table, &mut self.sites)?;
        }
        Ok(())
    }

    /// Is nothing left that could deliver? Processes without threads are dead or dying.
    pub(super) fn all_ended(&self) -> bool {
        self.rings.is_empty()
            && self.counters.is_empty()
            && self.processes.iter().all(Process::is_dead)
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

    fn read_log<S: Sink>(&mut self, process: usize, sink: &mut S) -> Result<(), RecordError> {
        let process = &mut self.processes[process];
        let frames = process.read_log(&mut self.sites)?;
        if !frames.is_empty() {
            sink.meta(process.id, &frames, &process.table)?;
        }
        Ok(())
    }

    fn deliver<S: Sink>(&mut self, at: usize, sink: &mut S) -> Result<(), RecordError> {
        let process = self.rings[at].process;
        self.read_log(process, sink)?;
        let ring = &self.rings[at];
        let table = &self.processes[process].table;
        let words = ring.reader.front().unwrap_or(&[]);
        sink.words(ring.stream, words, table, &mut self.sites)?;
        Ok(())
    }

    /// Delivers what a thread had not handed over when its process died. Nothing but a time stamp:
    /// it lost nothing, as one that executed another program.
    fn deliver_torn<S: Sink>(&mut self, at: usize, sink: &mut S) -> Result<(), RecordError> {
        let process = self.rings[at].process;
        self.read_log(process, sink)?;
        let ring = &self.rings[at];
        let table = &self.processes[process].table;
        let words = ring.reader.torn();
        let only_time = words.first().is_none_or(|w| *w as u32 == id::TIME)
            && words.get(2).is_none_or(|w| *w as u32 == id::END);
        if !only_time {
            self.torn += 1;
            let whole = whole_records(words, table);
            sink.words(ring.stream, &words[..whole], table, &mut self.sites)?;
        }
        Ok(())
    }

    fn take_new_files<S: Sink>(&mut self, sink: &mut S) -> Result<bool, RecordError> {
        let files = self.session.new_files().map_err(RecordError::Channel)?;
        let any = !files.is_empty();
        for (path, name) in files {
            match name {
                FileName::Meta { pid, stamp } => {
                    let id = ProcessId(self.processes.len() as u32);
                    let new = Process::open(&path, id, pid, stamp).map_err(RecordError::Channel)?;
                    self.add_process(new, sink)?;
                }
                FileName::Ring { .. } => {
                    let reader = RingReader::open(&path).map_err(RecordError::Channel)?;
                    let found = self.stream(reader.pid, reader.stamp, reader.tid, sink)?;
                    if let Some((process, stream)) = found {
                        self.rings.push(Ring {
                            reader,
                            process,
                            stream,
                        });
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
        let mut frames = new.read_log(&mut self.sites)?;
        let (_, parent, inherited) = new.table.process();
        if inherited > 0 {
            // The child's code refers to blocks that its parent has described by now.
            let of_parent = self.processes.iter().rposition(|p| p.pid == parent);
            if let Some(i) = of_parent {
                self.read_log(i, sink)?;
                new.table.inherit(&self.processes[i].table);
            }
        }
        for old in self.processes.iter_mut().filter(|p| p.pid == new.pid) {
            old.replaced = true;
        }
        sink.process(ProcessInfo {
            id: new.id,
            pid: new.pid,
            parent,
        })?;
        frames.extend(new.read_log(&mut self.sites)?);
        sink.meta(new.id, &frames, &new.table)?;
        self.processes.push(new);
        Ok(())
    }

    fn stream<S: Sink>(
        &mut self,
        pid: u32,
        stamp: u64,
        tid: u32,
        sink: &mut S,
    ) -> Result<Option<(usize, Stream)>, RecordError> {
        let owner = |p: &Process| p.pid == pid && p.stamp == stamp;
        let Some(process) = self.processes.iter().position(owner) else {
            return Ok(None);
        };
        let stream = Stream {
            thread: ThreadId(self.threads),
            process: self.processes[process].id,
            tid,
        };
        self.threads += 1;
        sink.thread(stream)?;
        Ok(Some((process, stream)))
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
