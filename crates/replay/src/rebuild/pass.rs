//! The pass over a recording.

use prestore_trace::block::{Block, NO_SLOT};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::content::{Content, Why};
use prestore_trace::record::{AllocKind, Special};
use prestore_trace::replay::{Store, Stores};
use prestore_trace::{ProcessId, ThreadId};
use rustc_hash::FxHashMap;

use super::counts::Counts;
use super::memory::Memory;
use super::order::Order;
use crate::cursor::Cursor;
use crate::ordered::{Stretch, Stretches, Walk};
use crate::{Options, SourceError, chosen};

/// Rebuilds the memory of a recording's processes, as far as it is asked to.
pub struct Rebuild<'t> {
    cursors: Vec<Cursor<'t>>,
    walk: Walk,
    decoder: Decoder,
    pass: Pass,
}

struct Pass {
    threads: Vec<(ThreadId, ProcessId)>,
    stores: Vec<Stores>,
    order: Order,
    memories: FxHashMap<ProcessId, Memory>,
    counts: Counts,
}

impl<'t> Rebuild<'t> {
    /// Begins at the beginning. `lenient`: as [`Options::lenient`].
    ///
    /// # Errors
    /// [`SourceError::NoValues`]: it was recorded without; and as [`crate::TraceSource::open`].
    pub fn new(trace: &'t Trace, lenient: bool) -> Result<Self, SourceError> {
        let options = Options {
            lenient,
            ..Options::default()
        };
        chosen::need_values(trace)?;
        let threads = chosen::threads(trace, &options)?;
        let mut cursors = Vec::with_capacity(threads.len());
        for &(thread, _) in &threads {
            cursors.push(Cursor::new(trace, thread, lenient)?);
        }
        Ok(Self {
            walk: Walk::new(&cursors),
            cursors,
            decoder: chosen::decoder()?,
            pass: Pass {
                stores: vec![Stores::default(); threads.len()],
                order: Order::new(threads.len()),
                threads,
                memories: FxHashMap::default(),
                counts: Counts::default(),
            },
        })
    }

    /// Goes on until each thread has had as many of its words as `words` says; those that it does
    /// not name stay where they are.
    ///
    /// # Errors
    /// [`SourceError::Read`], [`SourceError::Replay`].
    pub fn to(&mut self, words: &FxHashMap<ThreadId, u64>) -> Result<(), SourceError> {
        let threads = self.pass.threads.iter();
        let ends: Vec<u64> = threads
            .map(|(t, _)| words.get(t).copied().unwrap_or(0))
            .collect();
        self.until(&ends)
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// As [`Rebuild::to`].
    pub fn to_end(&mut self) -> Result<(), SourceError> {
        self.until(&vec![u64::MAX; self.cursors.len()])
    }

    fn until(&mut self, ends: &[u64]) -> Result<(), SourceError> {
        let (cursors, decoder) = (&mut self.cursors, &mut self.decoder);
        self.walk.until(ends, cursors, decoder, &mut self.pass)
    }

    /// The memory of a process as it is now; `None`: nothing is known of it.
    pub fn memory(&self, process: ProcessId) -> Option<&Memory> {
        self.pass.memories.get(&process)
    }

    /// What there was so far.
    pub fn counts(&self) -> &Counts {
        &self.pass.counts
    }
}

impl Pass {
    fn stored(&mut self, thread: usize, take: impl FnOnce(&mut Stores, &mut dyn FnMut(Store<'_>))) {
        let memory = self.memories.entry(self.threads[thread].1).or_default();
        let (order, counts) = (&self.order, &mut self.counts);
        let now = order.writer(thread);
        take(&mut self.stores[thread], &mut |s| match s.data {
            Some(data) => {
                counts.stored += s.len;
                counts.unordered += memory.store(s.addr, s.len, data, order, now);
            }
            None => {
                counts.unknown += s.len;
                memory.forget(s.addr, s.len, false);
            }
        });
    }
}

impl Stretches for Pass {
    fn begin(&mut self, thread: usize) {
        self.order.begin(thread);
    }

    fn exec(
        &mut self,
        of: &Stretch<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
    ) {
        let xsave = of.table.xsave();
        let with_value = block.refs.iter().filter(|r| r.value_slot != NO_SLOT);
        let words: u64 = with_value.map(|r| u64::from(r.size).div_ceil(8)).sum();
        self.counts.words += words;
        self.stored(of.thread, |stores, each| {
            stores.exec(xsave, before, block, values, executed, each);
        });
    }

    fn content(&mut self, of: &Stretch<'_>, _: u64, content: Content<'_>) {
        let Content {
            addr,
            len,
            why,
            data,
        } = content;
        self.counts.words += 4 + data.len() as u64;
        if why == Why::Stored {
            return self.stored(of.thread, |stores, each| stores.content(&content, each));
        }
        let memory = self.memories.entry(self.threads[of.thread].1).or_default();
        let (order, counts) = (&self.order, &mut self.counts);
        let now = order.writer(of.thread);
        match why {
            Why::Stored => {}
            Why::Kernel => {
                counts.kernel += len;
                counts.unordered += memory.store(addr, len, data, order, now);
            }
            Why::Image => {
                counts.images += if data.is_empty() { 0 } else { len };
                memory.begin_with(addr, len, data, order, now);
            }
            Why::Gone => memory.forget(addr, len, true),
            Why::Unknown => {
                counts.shared += len;
                memory.share(addr, len);
            }
            Why::Moved => {
                let from = data.first().copied().unwrap_or(addr);
                memory.moved(from, addr, len);
            }
            Why::Compared => *counts.compared.entry(addr).or_default() += 1,
        }
    }

    fn special(&mut self, of: &Stretch<'_>, _: u64, special: Special) {
        let process = self.threads[of.thread].1;
        match special {
            Special::Skip { instrs: 1.. } => {
                self.counts.gaps += 1;
                if let Some(memory) = self.memories.get_mut(&process) {
                    memory.forget_all();
                }
            }
            Special::Alloc {
                addr,
                size,
                kind: AllocKind::Mmap,
                ..
            } => self
                .memories
                .entry(process)
                .or_default()
                .map_other(addr, size),
            Special::Mapped {
                addr,
                size,
                offset,
                file,
                ..
            } => {
                if let Some(file) = of.table.mapped_file(file) {
                    let memory = self.memories.entry(process).or_default();
                    memory.map(addr, size, &file.path, offset);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, thread: usize) {
        self.stored(thread, |stores, each| stores.end(each));
        self.order.end(thread);
    }
}
