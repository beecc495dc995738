//! A taker that counts, or lists, what it is given.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use prestore_trace::block::{Block, BlockTable};
use prestore_trace::record::{Special, id};
use prestore_trace::replay::{EventContext, ExecSink, Replayer, for_each_event};
use prestore_trace::{Event, ProcessId, SiteTable};
use prestore_tracer::{Counts, ProcessInfo, Sink, SinkError, Stream};

#[derive(Default)]
struct Totals {
    replayer: Replayer,
    pid: u32,
    tid: u32,
    instrs: u64,
    skips: u64,
    windows: Vec<String>,
    loads: u64,
    stores: u64,
    allocs: u64,
    buffers: u64,
}

pub struct Facts {
    out: BufWriter<File>,
    threads: BTreeMap<u32, Totals>,
    pids: BTreeMap<u32, u32>,
    buffers: u64,
    /// List every event.
    pub events: bool,
    /// Pause at every buffer.
    pub slow: Duration,
    /// Fail when so many buffers were taken.
    pub fail_after: Option<u64>,
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SinkError {
    SinkError(Box::new(error))
}

impl Facts {
    pub fn new(out: BufWriter<File>) -> Self {
        Self {
            out,
            threads: BTreeMap::new(),
            pids: BTreeMap::new(),
            buffers: 0,
            events: false,
            slow: Duration::ZERO,
            fail_after: None,
        }
    }

    /// Writes the threads' sums and gives the file back.
    pub fn finish(mut self) -> io::Result<BufWriter<File>> {
        for (thread, t) in &self.threads {
            writeln!(
                self.out,
                "thread {thread} pid {} tid {} instrs {} loads {} stores {} allocs {} buffers {} \
                 total {} skips {} windows {}",
                t.pid,
                t.tid,
                t.instrs,
                t.loads,
                t.stores,
                t.allocs,
                t.buffers,
                t.replayer.instrs(),
                t.skips,
                t.windows.join(",")
            )?;
        }
        Ok(self.out)
    }
}

/// One buffer's executions.
struct Executions<'a> {
    context: EventContext<'a>,
    totals: &'a mut Totals,
    out: Option<&'a mut BufWriter<File>>,
    result: io::Result<()>,
}

impl ExecSink for Executions<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let Self {
            context,
            totals,
            out,
            result,
        } = self;
        totals.instrs += u64::from(executed);
        let mut take = |event: &Event<'_>| {
            totals.loads += u64::from(event.kind.reads());
            totals.stores += u64::from(event.kind.writes());
            if let Some(out) = out
                && let Err(error) = list(out, event)
            {
                *result = Err(error);
            }
        };
        for_each_event(*context, before, block, values, executed, &mut take);
    }

    fn special(&mut self, _before: u64, special: Special) {
        self.totals.skips += u64::from(matches!(special, Special::Skip { .. }));
        self.totals.allocs += u64::from(matches!(special, Special::Alloc { .. }));
        if let Special::Window { number } = special {
            self.totals.windows.push(number.to_string());
        }
    }
}

fn list(out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
    let kind = format!("{:?}", event.kind);
    let kind = match kind.split_once('(') {
        Some((outer, inner)) => format!("{outer}({}", inner.to_lowercase()),
        None => kind,
    };
    write!(
        out,
        "event {} {} {kind} {:#x} {}",
        event.thread.0, event.instr, event.addr, event.size
    )?;
    for word in event.value.into_iter().flatten() {
        write!(out, " {word:016x}")?;
    }
    writeln!(out)
}

impl Sink for Facts {
    fn executed(&self, stream: Stream) -> u64 {
        let totals = self.threads.get(&stream.thread.0);
        totals.map_or(0, |t| t.replayer.instrs())
    }

    fn process(&mut self, info: ProcessInfo) -> Result<(), SinkError> {
        self.pids.insert(info.id.0, info.pid);
        writeln!(
            self.out,
            "process {} pid {} parent {}",
            info.id.0, info.pid, info.parent
        )
        .map_err(failed)
    }

    fn meta(&mut self, _: ProcessId, _: &[u8], _: &BlockTable) -> Result<(), SinkError> {
        Ok(())
    }

    fn thread(&mut self, stream: Stream) -> Result<(), SinkError> {
        let totals = self.threads.entry(stream.thread.0).or_default();
        totals.tid = stream.tid;
        totals.pid = self.pids.get(&stream.process.0).copied().unwrap_or(0);
        Ok(())
    }

    fn words(
        &mut self,
        stream: Stream,
        words: &[u64],
        table: &BlockTable,
        _: &mut SiteTable,
    ) -> Result<(), SinkError> {
        std::thread::sleep(self.slow);
        self.buffers += 1;
        if self.fail_after.is_some_and(|limit| self.buffers > limit) {
            return Err(failed(io::Error::other("told to fail")));
        }
        if words
            .first()
            .is_some_and(|header| *header as u32 != id::TIME)
        {
            let what = "a buffer does not begin with its time stamp";
            return Err(failed(io::Error::other(what)));
        }
        let totals = self.threads.entry(stream.thread.0).or_default();
        totals.buffers += 1;
        let mut replayer = std::mem::take(&mut totals.replayer);
        let mut executions = Executions {
            context: EventContext {
                thread: stream.thread,
                xsave: table.xsave(),
            },
            totals,
            out: self.events.then_some(&mut self.out),
            result: Ok(()),
        };
        let whole = replayer
            .replay(words, table, &mut executions)
            .map_err(failed)?;
        executions.result.map_err(failed)?;
        totals.replayer = replayer;
        if whole != words.len() {
            let what = format!("{whole} of {} words are whole records", words.len());
            return Err(failed(io::Error::other(what)));
        }
        self.out.flush().map_err(failed)
    }

    fn counts(
        &mut self,
        stream: Stream,
        counts: &Counts,
        table: &BlockTable,
        _: &mut SiteTable,
    ) -> Result<(), SinkError> {
        if counts.lost > 0 {
            return Err(failed(io::Error::other("counts were lost")));
        }
        let totals = self.threads.entry(stream.thread.0).or_default();
        for (id, n) in &counts.blocks {
            let Some(block) = table.get(*id) else {
                return Err(failed(io::Error::other("a count of an unknown block")));
            };
            let stores = block.refs.iter().filter(|r| r.kind.writes()).count() as u64;
            totals.instrs += n * u64::from(block.instrs);
            totals.stores += n * stores;
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
