//! All threads of a recording at once, from stamp to stamp.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prestore_trace::block::{Block, BlockTable};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::ExecSink;
use prestore_trace::{ProcessId, ThreadId};

use crate::cursor::Cursor;
use crate::{Options, SourceError, chosen};

/// Takes what all threads did, in the order of their stamps.
pub(crate) trait Stretches {
    /// A stretch of a thread, by its place among the threads that are read, begins.
    fn begin(&mut self, thread: usize);
    /// As [`ExecSink::exec`].
    fn exec(&mut self, of: &Stretch<'_>, before: u64, block: &Block, values: &[u64], executed: u32);
    /// As [`ExecSink::special`].
    fn special(&mut self, of: &Stretch<'_>, before: u64, special: Special);
    /// As [`ExecSink::content`].
    fn content(&mut self, _of: &Stretch<'_>, _before: u64, _content: Content<'_>) {}
    /// A thread has come to its end.
    fn end(&mut self, thread: usize);
}

/// One thread from one stamp to the next.
pub(crate) struct Stretch<'a> {
    /// Its place among the threads that are read.
    pub(crate) thread: usize,
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
    let ends = vec![u64::MAX; cursors.len()];
    Walk::new(cursors).until(&ends, cursors, decoder, sink)
}

/// Where a walk is.
pub(crate) struct Walk {
    /// Ticks and thread of the next stretches.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Walk {
    pub(crate) fn new(cursors: &[Cursor<'_>]) -> Self {
        // A thread takes memory from when its first records come until its last have.
        let first = cursors.iter().map(|c| c.next_ticks().unwrap_or(0));
        let queue = first.zip(0..).map(Reverse);
        Self {
            queue: queue.collect(),
        }
    }

    /// As [`walk`], but each thread only to where it has had so many words.
    pub(crate) fn until<S: Stretches>(
        &mut self,
        words: &[u64],
        cursors: &mut [Cursor<'_>],
        decoder: &mut Decoder,
        sink: &mut S,
    ) -> Result<(), SourceError> {
        let mut waiting = Vec::new();
        while let Some(Reverse((ticks, thread))) = self.queue.pop() {
            if cursors[thread].words_done() >= words[thread] {
                waiting.push(Reverse((ticks, thread)));
                continue;
            }
            sink.begin(thread);
            let mut ended = true;
            while cursors[thread].load(decoder)? {
                let table = cursors[thread].table();
                let mut until = UntilStamp {
                    stretch: Stretch {
                        thread,
                        table: &table,
                    },
                    sink: &mut *sink,
                    next: None,
                };
                cursors[thread].replay_to(words[thread], &mut until)?;
                let next = until.next;
                let stops = cursors[thread].words_done() >= words[thread];
                if let Some(next) = next.or(stops.then_some(ticks)) {
                    self.queue.push(Reverse((next, thread)));
                    ended = false;
                    break;
                }
            }
            if ended {
                sink.end(thread);
            }
        }
        self.queue.extend(waiting);
        Ok(())
    }
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
        self.next = special.ticks().or(self.next);
    }

    fn content(&mut self, before: u64, content: Content<'_>) {
        self.sink.content(&self.stretch, before, content);
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
    /// As [`ExecSink::content`].
    fn content(&mut self, _who: Executor<'_>, _before: u64, _content: Content<'_>) {}
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
    fn begin(&mut self, _: usize) {}

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

    fn content(&mut self, of: &Stretch<'_>, before: u64, content: Content<'_>) {
        let who = self.who(of);
        self.sink.content(who, before, content);
    }

    fn end(&mut self, _: usize) {}
}
