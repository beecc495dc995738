//! All threads of a recording at once, from stamp to stamp.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prestore_trace::block::{Block, BlockTable};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::record::Special;
use prestore_trace::replay::ExecSink;
use prestore_trace::{ProcessId, ThreadId};

use crate::cursor::Cursor;
use crate::{Options, SourceError, chosen};

/// Takes what all threads did, in the order of their stamps.
pub(crate) trait Stretches {
    /// A stretch of a thread, by its place among the threads that are read, begins at `ticks`;
    /// `begun`: it is not its first, of which the time may be unknown (0).
    fn begin(&mut self, thread: usize, ticks: u64, begun: bool);
    /// As [`ExecSink::exec`].
    fn exec(&mut self, of: &Stretch<'_>, before: u64, block: &Block, values: &[u64], executed: u32);
    /// As [`ExecSink::special`].
    fn special(&mut self, of: &Stretch<'_>, before: u64, special: Special);
    /// A thread has come to its end.
    fn end(&mut self, thread: usize);
}

/// One thread from one stamp to the next.
pub(crate) struct Stretch<'a> {
    /// Its place among the threads that are read.
    pub(crate) thread: usize,
    /// When it began.
    pub(crate) ticks: u64,
    /// The blocks of its process.
    pub(crate) table: &'a BlockTable,
}

/// Gives `sink` all that is left in `cursors`. Two stretches that overlap come one behind the
/// other, the earlier begun first.
pub(crate) fn walk<S: Stretches>(
    cursors: &mut [Cursor<'_>],
    decoder: &mut Decoder,
    sink: &mut S,
) -> Result<(), SourceError> {
    // A thread takes memory from when its first records come until its last have.
    let first = cursors.iter().map(|c| c.next_ticks().unwrap_or(0));
    let mut queue: BinaryHeap<_> = first
        .zip(0..)
        .map(|(t, i)| Reverse((t, i, false)))
        .collect();
    while let Some(Reverse((ticks, thread, begun))) = queue.pop() {
        sink.begin(thread, ticks, begun);
        let mut ended = true;
        while cursors[thread].load(decoder)? {
            let table = cursors[thread].table();
            let mut until = UntilStamp {
                stretch: Stretch {
                    thread,
                    ticks,
                    table: &table,
                },
                sink: &mut *sink,
                next: None,
            };
            cursors[thread].replay(&mut until)?;
            if let Some(next) = until.next {
                queue.push(Reverse((next, thread, true)));
                ended = false;
                break;
            }
        }
        if ended {
            sink.end(thread);
        }
    }
    Ok(())
}

struct UntilStamp<'a, S> {
    stretch: Stretch<'a>,
    sink: &'a mut S,
    /// The next stamp, once it is there.
    next: Option<u64>,
}

impl<S: Stretches> ExecSink for UntilStamp<'_, S> {
    #[inline]
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        (self.sink).exec(&self.stretch, before, block, values, executed);
    }

    fn special(&mut self, before: u64, special: Special) {
        self.sink.special(&self.stretch, before, special);
        if let Special::Time { ticks } | Special::Stamp { ticks } | Special::Spawn { ticks } =
            special
        {
            self.next = Some(ticks);
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.next.is_some()
    }
}

/// Whose records a taker gets.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// Its process.
    pub process: ProcessId,
    /// The blocks of its process.
    pub table: &'a BlockTable,
}

/// Takes what all threads of a recording did, see [`in_order`].
pub trait OrderedSink {
    /// As [`ExecSink::exec`].
    fn exec(
        &mut self,
        who: Executor<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
    );
    /// As [`ExecSink::special`].
    fn special(&mut self, who: Executor<'_>, before: u64, special: Special);
}

/// Gives `sink` what the threads that `options` choose did, and returns what was left out, a
/// sentence each.
///
/// Each thread's records come in its order. Between threads, what lies behind an atomic
/// read-modify-write of one comes behind all that lies before the atomics which another had
/// executed by then; so what is ordered by locks is in order. Between two atomics of a thread
/// nothing is known, and it comes in one piece.
///
/// # Errors
/// As [`crate::TraceSource::open`].
pub fn in_order<S: OrderedSink>(
    trace: &Trace,
    options: &Options,
    sink: &mut S,
) -> Result<Vec<String>, SourceError> {
    let threads = chosen::threads(trace, options)?;
    let mut decoder = chosen::decoder()?;
    let mut cursors = Vec::with_capacity(threads.len());
    for &(thread, _) in &threads {
        cursors.push(Cursor::new(trace, thread, options.lenient)?);
    }
    walk(&mut cursors, &mut decoder, &mut Named { threads, sink })?;
    Ok(cursors.iter().flat_map(Cursor::notes).collect())
}

struct Named<'a, S> {
    threads: Vec<(ThreadId, ProcessId)>,
    sink: &'a mut S,
}

impl<S> Named<'_, S> {
    fn who<'t>(&self, of: &Stretch<'t>) -> Executor<'t> {
        let (thread, process) = self.threads[of.thread];
        Executor {
            thread,
            process,
            table: of.table,
        }
    }
}

impl<S: OrderedSink> Stretches for Named<'_, S> {
    fn begin(&mut self, _: usize, _: u64, _: bool) {}

    #[inline]
    fn exec(
        &mut self,
        of: &Stretch<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
    ) {
        let who = self.who(of);
        self.sink.exec(who, before, block, values, executed);
    }

    fn special(&mut self, of: &Stretch<'_>, before: u64, special: Special) {
        let who = self.who(of);
        self.sink.special(who, before, special);
    }

    fn end(&mut self, _: usize) {}
}
