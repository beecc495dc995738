//! The second reading of one thread: of its events, those that the walk over all threads has to see.
//!
//! Most accesses are where no thread meets another one. They are counted, and what of them ends a wait is noted.

use prestore_trace::block::{Block, Ref, RefMode, XsaveComponent};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};
use prestore_trace::{EventKind, ProcessId, SiteId, ThreadId};

use super::LOOP;
use super::blocks::Blocks;
use super::meets_others;
use super::places::Seen;
use crate::cursor::Cursor;
use crate::{ProcessMemory, SourceError};

/// Items that are read at once, and a block's worth more.
const ENOUGH: usize = 4096;

/// Something of a thread that others may have to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// What the thread did before.
    pub(super) before: Done,
    pub(super) what: What,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Events.
    pub(super) events: u64,
    /// Events up to and including the last that was certainly work: a wait does not go beyond it.
    pub(super) worked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A load where threads may meet.
    Load(u64, SiteId),
    /// A store there.
    Store(u64, SiteId),
    /// A store elsewhere, so close behind such a load that it may belong to a wait.
    Write(u64, SiteId),
    Atomic(u64, SiteId),
    /// Another thread or process is made, at these ticks.
    Spawn(u64),
    /// The recording has stamps.
    Stamped,
    /// The stretch ends; the next one begins at these ticks.
    Until(u64),
}

/// What was read at once: items, and what the thread has done behind all of them.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) items: Vec<Item>,
    pub(super) done: Done,
}

/// One thread.
pub(super) struct Scanner<'t> {
    trace: &'t Trace,
    process: ProcessId,
    cursor: Cursor<'t>,
    done: Done,
    /// Events before the last load where threads may meet.
    polled: u64,
    blocks: Blocks,
    /// Items of the last chunk.
    last: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        (thread, process): (ThreadId, ProcessId),
        lenient: bool,
    ) -> Result<Self, SourceError> {
        Ok(Self {
            trace,
            process,
            cursor: Cursor::new(trace, thread, lenient)?,
            done: Done::default(),
            polled: 0,
            blocks: Blocks::default(),
            last: 0,
        })
    }

    /// When its first stretch begins (0: not known).
    pub(super) fn begins(&self) -> u64 {
        self.cursor.next_ticks().unwrap_or(0)
    }

    /// What comes next, a stored block's worth at most; `None` at the end. Threads may meet where `seen` says.
    pub(super) fn next(
        &mut self,
        decoder: &mut Decoder,
        seen: &Seen,
    ) -> Result<Option<Chunk>, SourceError> {
        if !self.cursor.load(decoder)? {
            return Ok(None);
        }
        let table = self.cursor.table();
        self.blocks.are(&table);
        let mut scan = Scan {
            blocks: &mut self.blocks,
            xsave: table.xsave(),
            memory: meets_others(self.trace, self.process, &table),
            seen,
            done: self.done,
            polled: self.polled,
            items: Vec::with_capacity(self.last),
        };
        self.cursor.replay(&mut scan)?;
        let Scan { done, items, .. } = scan;
        (self.done, self.polled, self.last) = (done, scan.polled, items.len());
        Ok(Some(Chunk { items, done }))
    }
}

struct Scan<'a> {
    blocks: &'a mut Blocks,
    xsave: &'a [XsaveComponent],
    memory: ProcessMemory<'a>,
    seen: &'a Seen,
    done: Done,
    polled: u64,
    items: Vec<Item>,
}

/// As [`Scan`], in the host's registers while a block is looked through.
#[derive(Clone, Copy)]
struct Counts {
    done: Done,
    polled: u64,
}

impl Counts {
    /// The next event, at `addr`; answers what of it has to be seen.
    #[inline(always)]
    fn event(&mut self, seen: &Seen, kind: EventKind, addr: u64, site: SiteId) -> Option<Item> {
        let before = self.done;
        self.done.events += 1;
        let what = match kind {
            EventKind::Load => {
                if !seen.perhaps(addr) {
                    return None;
                }
                self.polled = before.events;
                What::Load(addr, site)
            }
            EventKind::Store if seen.perhaps(addr) => What::Store(addr, site),
            EventKind::Store | EventKind::NtStore => {
                if before.events - self.polled > LOOP {
                    self.done.worked = self.done.events;
                    return None;
                }
                What::Write(addr, site)
            }
            EventKind::AtomicRmw => What::Atomic(addr, site),
            EventKind::Fence(_) => return None,
            _ => {
                self.done.worked = self.done.events;
                return None;
            }
        };
        Some(Item { before, what })
    }
}

impl Scan<'_> {
    fn see(&mut self, what: What) {
        let before = self.done;
        self.items.push(Item { before, what });
    }

    /// An event without an address.
    fn other(&mut self, kind: EventKind) {
        let mut counts = self.counts();
        let item = counts.event(self.seen, kind, 0, SiteId::NONE);
        self.items.extend(item);
        (self.done, self.polled) = (counts.done, counts.polled);
    }

    fn counts(&self) -> Counts {
        Counts {
            done: self.done,
            polled: self.polled,
        }
    }

    /// A reference that is not plain.
    #[cold]
    #[inline(never)]
    fn touches(&mut self, mut counts: Counts, r: &Ref, values: &[u64]) -> Counts {
        let (seen, memory, items) = (self.seen, self.memory, &mut self.items);
        each_touch(self.xsave, r, values, |addr, _| {
            let addr = memory.place(addr);
            items.extend(counts.event(seen, r.kind, addr, r.site));
        });
        counts
    }
}

impl ExecSink for Scan<'_> {
    #[inline]
    fn exec(&mut self, _: u64, block: &Block, values: &[u64], executed: u32) {
        let (seen, memory) = (self.seen, self.memory);
        let known = self.blocks.known(block);
        let waits = self.done.events <= self.polled + LOOP;
        if known.plain
            && !known.atomics
            && !waits
            && executed == block.instrs
            && known.all(values, |addr| seen.is_elsewhere(memory.place(addr)))
        {
            if let Some(work) = known.work {
                self.done.worked = self.done.events + work;
            }
            self.done.events += known.events;
            return;
        }
        let mut counts = self.counts();
        for r in &block.refs {
            if u32::from(r.instr) >= executed {
                break;
            }
            if r.mode != RefMode::Plain {
                counts = self.touches(counts, r, values);
                continue;
            }
            let addr = memory.place(r.base(values));
            let item = counts.event(seen, r.kind, addr, r.site);
            self.items.extend(item);
        }
        (self.done, self.polled) = (counts.done, counts.polled);
    }

    fn special(&mut self, _: u64, special: Special) {
        match special {
            Special::Stamp { .. } => self.see(What::Stamped),
            Special::Spawn { ticks } => self.see(What::Spawn(ticks)),
            Special::Alloc { .. } => self.other(EventKind::Alloc),
            Special::Free { .. } => self.other(EventKind::Free),
            _ => {}
        }
        if let Some(ticks) = special.ticks() {
            self.see(What::Until(ticks));
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.items.len() >= ENOUGH
    }
}

#[cfg(test)]
mod tests;
