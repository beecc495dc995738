//! All threads of a recording at once, from stamp to stamp.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prestore_trace::block::{Block, BlockTable};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::ExecSink;
use prestore_trace::{ProcessId, ThreadId};

use crate::awaited::{self, Awaited};
use crate::cursor::Cursor;
use crate::{HandOffs, Options, SourceError, chosen};

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

/// Where a walk over threads is. Two stretches that overlap come one behind the other, the earlier begun first.
pub(crate) struct Walk {
    /// Ticks and thread of the next stretches.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    awaited: Option<Awaited>,
}

impl Walk {
    pub(crate) fn new(cursors: &[Cursor<'_>]) -> Self {
        // A thread takes memory from when its first records come until its last have.
        let first = cursors.iter().map(|c| c.next_ticks().unwrap_or(0));
        let queue = first.zip(0..).map(Reverse);
        Self {
            queue: queue.collect(),
            awaited: None,
        }
    }

    /// The stretch that comes next.
    fn next(&mut self) -> Option<(u64, usize)> {
        loop {
            let Some(Reverse((ticks, thread))) = self.queue.pop() else {
                let (ticks, thread) = self.awaited.as_mut()?.break_deadlock()?;
                self.queue.push(Reverse((ticks, thread)));
                self.frees(ticks);
                continue;
            };
            let awaited = self.awaited.as_mut();
            if awaited.is_none_or(|awaited| awaited.goes_on(thread, ticks)) {
                return Some((ticks, thread));
            }
        }
    }

    /// Who waited for what the stretch that began at `ticks` has brought goes on.
    fn frees(&mut self, ticks: u64) {
        if let Some(awaited) = &mut self.awaited {
            let free = awaited.take_free();
            (self.queue).extend(free.map(|thread| Reverse((ticks, thread))));
        }
    }

    /// Gives `sink` what is left in `cursors`, of each thread up to where it has had so many words.
    pub(crate) fn until<S: Stretches>(
        &mut self,
        words: &[u64],
        cursors: &mut [Cursor<'_>],
        decoder: &mut Decoder,
        sink: &mut S,
    ) -> Result<(), SourceError> {
        let mut waiting = Vec::new();
        while let Some((ticks, thread)) = self.next() {
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
                    awaited: self.awaited.as_mut(),
                    next: None,
                    waits: false,
                };
                cursors[thread].replay_to(words[thread], &mut until)?;
                let (next, waits) = (until.next, until.waits);
                let stops = waits || cursors[thread].words_done() >= words[thread];
                if let Some(next) = next.or(stops.then_some(ticks)) {
                    self.queue.push(Reverse((next, thread)));
                    ended = false;
                    break;
                }
            }
            if ended {
                sink.end(thread);
            }
            self.frees(ticks);
        }
        self.queue.extend(waiting);
        Ok(())
    }
}

struct UntilStamp<'a, S> {
    stretch: Stretch<'a>,
    sink: &'a mut S,
    awaited: Option<&'a mut Awaited>,
    /// The next stamp, once it is there.
    next: Option<u64>,
    /// For another thread.
    waits: bool,
}

impl<S> UntilStamp<'_, S> {
    /// The thread has had events.
    fn has_had(&mut self, events: impl FnOnce(&BlockTable) -> u64) {
        let Stretch { thread, table } = self.stretch;
        if let Some(awaited) = &mut self.awaited {
            self.waits = awaited.has_had(thread, || events(table));
        }
    }
}

impl<S: Stretches> ExecSink for UntilStamp<'_, S> {
    #[inline]
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        (self.sink).exec(&self.stretch, before, block, values, executed);
        self.has_had(|table| awaited::events(table, block, values, executed));
    }

    fn special(&mut self, before: u64, special: Special) {
        self.sink.special(&self.stretch, before, special);
        if matches!(special, Special::Alloc { .. } | Special::Free { .. }) {
            self.has_had(|_| 1);
        }
        self.next = special.ticks().or(self.next);
    }

    fn content(&mut self, before: u64, content: Content<'_>) {
        self.sink.content(&self.stretch, before, content);
    }

    #[inline]
    fn full(&self) -> bool {
        self.next.is_some() || self.waits
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
    ordered(trace, options, None, sink)
}

/// As [`in_order`], and a thread that waited for another one goes on behind what it waited for: at a barrier, for a message, a flag or a
/// thread's end, as far as it is recognised ([`HandOffs::infer_order`]). A sentence says where it is not.
///
/// # Errors
/// As [`crate::TraceSource::open`].
pub fn in_order_of_waits<S: OrderedSink>(
    trace: &Trace,
    options: &Options,
    sink: &mut S,
) -> Result<Vec<String>, SourceError> {
    let hand_offs = HandOffs::infer_order(trace, options)?;
    let unresolved = hand_offs.counts().unresolved;
    let mut notes = ordered(trace, options, Some(hand_offs), sink)?;
    if unresolved > 0 {
        notes.push(format!(
            "a thread waited in a loop for what another one writes with plain stores, in a way that is not recognised \
             (times: {unresolved}): what it did afterwards may be taken to come before what it waited for, and findings at \
             lines that several threads store to or flush may be false for that reason alone"
        ));
    }
    Ok(notes)
}

fn ordered<S: OrderedSink>(
    trace: &Trace,
    options: &Options,
    hand_offs: Option<HandOffs>,
    sink: &mut S,
) -> Result<Vec<String>, SourceError> {
    let threads = chosen::threads(trace, options)?;
    let mut decoder = chosen::decoder()?;
    let mut cursors = Vec::with_capacity(threads.len());
    for &(thread, _) in &threads {
        cursors.push(Cursor::new(trace, thread, options.lenient)?);
    }
    let mut walk = Walk::new(&cursors);
    let ids = threads.iter().map(|(thread, _)| *thread);
    walk.awaited = hand_offs.and_then(|found| Awaited::new(found, ids));
    let ends = vec![u64::MAX; cursors.len()];
    let mut named = Named { threads, sink };
    walk.until(&ends, &mut cursors, &mut decoder, &mut named)?;
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
