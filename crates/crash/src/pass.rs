//! One record after the other of all threads, in their order.

use std::collections::BTreeSet;

use prestore_replay::{Executor, OrderedSink};
use prestore_trace::block::Block;
use prestore_trace::container::Trace;
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::{CallTree, each_touch};
use prestore_trace::{EventKind, FenceKind, FlushKind, ProcessId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::finding::{At, First};
use crate::image::Domain;
use crate::images::Images;
use crate::logged::Logs;
use crate::memory::Memory;
use crate::place::Place;
use crate::regions::{Piece, Regions};
use crate::transactions::Transactions;
use crate::under_way::{Orders, Pending, Store};
use crate::values::{Come, Values};

/// While a recording is read.
pub(crate) struct Pass<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) images: Images<'a>,
    pub(crate) memory: Memory,
    pub(crate) spaces: FxHashMap<ProcessId, Regions>,
    pub(crate) threads: FxHashMap<ThreadId, Pending>,
    pub(crate) places: FxHashMap<ThreadId, Place>,
    pub(crate) tree: CallTree,
    /// Where `msync` was called that has written an image back.
    pub(crate) synced: BTreeSet<At>,
    /// What has flushed a line of one.
    pub(crate) flushers: BTreeSet<SiteId>,
    /// The name of the function that begins at an instruction.
    pub(crate) function_at: &'a mut dyn FnMut(SiteId) -> Option<String>,
    pub(crate) transactions: Transactions,
    /// What is executed adds to a transaction.
    pub(crate) adds: bool,
    /// Where the recording has values.
    pub(crate) values: Option<Values>,
    /// Where they are asked for.
    pub(crate) logs: Option<Logs>,
}

impl Pass<'_> {
    /// A forked process has what its parent had mapped.
    fn enter(&mut self, process: ProcessId) {
        if self.spaces.contains_key(&process) {
            return;
        }
        let own = self.trace.process(process);
        let parent = (self.spaces.keys()).find(|&&p| self.trace.process(p).began(&own));
        let inherited = parent.and_then(|p| self.spaces.get(p)).cloned();
        let space = inherited.unwrap_or_else(|| self.images.ranges(&mut self.memory));
        self.spaces.insert(process, space);
    }

    fn event(
        &mut self,
        who: Executor<'_>,
        kind: EventKind,
        addr: u64,
        size: u64,
        at: At,
        first: First,
    ) {
        let Some(space) = self.spaces.get(&who.process) else {
            return;
        };
        let pending = self.threads.entry(who.thread).or_default();
        let memory = &mut self.memory;
        let eadr = memory.domain == Domain::Eadr;
        match kind {
            EventKind::Store | EventKind::NtStore | EventKind::AtomicRmw => {
                let non_temporal = kind == EventKind::NtStore;
                if kind == EventKind::AtomicRmw {
                    fence(memory, pending, &mut self.logs, (at, first), Orders::Atomic);
                }
                pending.flushed |= non_temporal;
                let store = Store {
                    at,
                    first,
                    non_temporal,
                };
                let mut any = false;
                let transactions = &mut self.transactions;
                space.pieces(addr, size, |piece| {
                    any = true;
                    memory.store(pending, store, piece);
                    transactions.store(who.thread, store, piece);
                });
                if self.adds && !any {
                    return self.told(who, (addr, size), first);
                }
                if let Some(values) = self.values.as_mut().filter(|_| any) {
                    let logs = &mut self.logs;
                    values.store((at, first), (addr, size), non_temporal, space, |stored| {
                        memory.stored(&stored, space);
                        if let Some(logs) = logs {
                            logs.stored(&stored);
                        }
                    });
                }
            }
            EventKind::Flush(kind) => {
                pending.flushed |= !eadr;
                let alone = kind == FlushKind::Clflush;
                let pieces = space.line(addr);
                if pieces.is_empty() {
                    return;
                }
                self.flushers.insert(at.site);
                for piece in &pieces {
                    self.transactions.flush(who.thread, *piece);
                }
                let flush = First {
                    address: addr,
                    ..first
                };
                let redundant = memory.flush(pending, at, flush, &pieces, alone);
                if let Some(redundant) = redundant {
                    memory.redundant(redundant);
                }
                self.transactions.flushed(who.thread, at, redundant);
                if let Some(logs) = &mut self.logs {
                    for piece in pieces {
                        logs.flush(at, first, piece, alone);
                    }
                }
            }
            EventKind::Fence(kind @ (FenceKind::Store | FenceKind::Full)) => {
                let told = kind == FenceKind::Store && !space.is_empty();
                let by = if told { Orders::Told } else { Orders::Fence };
                fence(memory, pending, &mut self.logs, (at, first), by);
            }
            EventKind::Load => {
                let transactions = &mut self.transactions;
                space.pieces(addr, size, |piece| transactions.added(who.thread, piece));
            }
            _ => {}
        }
    }

    /// What adds to a transaction has stored to its own memory, in which it may have what it was told to add.
    fn told(&mut self, who: Executor<'_>, (addr, size): (u64, u64), first: First) {
        let Some(values) = &mut self.values else {
            return;
        };
        let stored = values.own(first, addr, size);
        let range = stored.and_then(|bytes| self.transactions.told(who.thread, addr, &bytes));
        if let (Some((offset, size)), Some(space)) = (range, self.spaces.get(&who.process)) {
            let transactions = &mut self.transactions;
            space.in_files(offset, size, |piece| {
                transactions.uncopied(who.thread, piece)
            });
        }
    }

    /// A thread comes to a block, of which the code may belong to a transaction.
    fn come_to(&mut self, thread: ThreadId, at: At, depth: usize) {
        if !(self.transactions).is_entry(at.site, &mut self.function_at) {
            if let Some(redundant) = self.transactions.goes_on(thread, depth) {
                self.memory.redundant(redundant);
            }
            return;
        }
        let call = self.tree.call_site(at.node).map(|site| At {
            site,
            node: self.tree.parent(at.node),
        });
        // Where the caches are persistent no call is of use.
        let is_of_use = self.memory.domain == Domain::Adr;
        let waits = !is_of_use || (self.threads.get(&thread)).is_none_or(|t| t.flushed);
        let over = (self.transactions).enter(thread, (at, call), depth, waits);
        if let Some(redundant) = over.redundant {
            self.memory.redundant(redundant);
        }
        for unlogged in &over.unlogged {
            self.memory.unlogged(unlogged);
        }
        for (key, at) in over.gone {
            self.memory.gone(key, at);
        }
    }

    /// `size` bytes at `addr` are mapped or allocated now, with what is known of what they hold.
    fn is_there(&mut self, who: Executor<'_>, addr: u64, size: u64) {
        let (Some(values), Some(space)) = (&self.values, self.spaces.get(&who.process)) else {
            return;
        };
        let (memory, logs) = (&mut self.memory, &mut self.logs);
        space.pieces(addr, size, |piece: Piece| {
            if let Some(logs) = logs {
                logs.mapped(piece);
            }
            for held in values.mapped(who.thread, piece) {
                memory.held(&held);
                if let Some(logs) = logs {
                    logs.held(&held);
                }
            }
        });
    }
}

fn fence(
    memory: &mut Memory,
    pending: &mut Pending,
    logs: &mut Option<Logs>,
    (at, first): (At, First),
    by: Orders,
) {
    memory.fence(pending, at, first, by);
    if let Some(logs) = logs {
        logs.fence(at, first);
    }
}

impl OrderedSink for Pass<'_> {
    fn exec(
        &mut self,
        who: Executor<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
    ) {
        let place = self.places.entry(who.thread).or_default();
        place.stack.enter(block, &mut self.tree);
        let instr = before.wrapping_add(u64::from(executed.saturating_sub(1)));
        place.last = Some((block.last_site, instr));
        let (node, depth) = (place.stack.node(), place.stack.depth());
        self.enter(who.process);
        let site = block.start_site;
        self.come_to(who.thread, At { site, node }, depth);
        self.adds = self.transactions.adds(who.thread);
        let bounds = self.spaces.get(&who.process).map(Regions::bounds);
        let bounds = bounds.unwrap_or_default();
        // What adds may be told elsewhere what to add.
        let adds = self.adds;
        let matters = |addr: u64, size: u64| adds || bounds.meet(addr, size);
        if let Some(known) = &mut self.values {
            known.exec(who, before, block, values, executed, matters);
        }
        for r in &block.refs {
            if u32::from(r.instr) >= executed {
                break;
            }
            if matches!(r.kind, EventKind::Load) && !self.adds {
                continue;
            }
            let at = At { site: r.site, node };
            let first = First {
                process: who.process,
                thread: who.thread,
                instr: before.wrapping_add(u64::from(r.instr)),
                address: 0,
                offset: 0,
            };
            if r.is_addressless() {
                self.event(who, r.kind, 0, 0, at, first);
                continue;
            }
            if r.has_failed(values) {
                if r.kind == EventKind::AtomicRmw {
                    let pending = self.threads.entry(who.thread).or_default();
                    fence(
                        &mut self.memory,
                        pending,
                        &mut self.logs,
                        (at, first),
                        Orders::Atomic,
                    );
                }
                continue;
            }
            let elsewhere = matches!(r.kind, EventKind::Load | EventKind::Store);
            each_touch(who.table.xsave(), r, values, |addr, size| {
                if !elsewhere || matters(addr, size) {
                    self.event(who, r.kind, addr, size, at, first);
                }
            });
        }
    }

    fn special(&mut self, who: Executor<'_>, _: u64, special: Special) {
        self.enter(who.process);
        let Some(space) = self.spaces.get_mut(&who.process) else {
            return;
        };
        match special {
            Special::Alloc {
                addr,
                size,
                caller,
                kind,
            } => {
                let place = self.places.entry(who.thread).or_default();
                let calls: Vec<SiteId> = self.tree.chain(place.stack.node()).collect();
                (self.images).allocated(
                    who,
                    (addr, size),
                    (caller, kind),
                    &calls,
                    space,
                    &mut self.memory,
                );
                self.is_there(who, addr, size);
            }
            Special::Mapped {
                addr,
                size,
                offset,
                file,
                writable,
            } => {
                let file = who.table.mapped_file(file).cloned().unwrap_or_default();
                let mapped = (addr, size, offset);
                (self.images).mapped(
                    (&file, who.table),
                    mapped,
                    writable,
                    space,
                    &mut self.memory,
                );
                self.is_there(who, addr, size);
            }
            Special::Free { addr, .. } => {
                if let Some(region) = space.remove(addr) {
                    (self.images).freed(addr, region, &mut self.memory, &self.threads);
                }
            }
            Special::Synced { addr, size } => {
                let (memory, mut any) = (&mut self.memory, false);
                space.pieces(addr, size, |piece| {
                    any = true;
                    memory.synced(piece);
                    self.transactions.flush(who.thread, piece);
                    if let Some(logs) = &mut self.logs {
                        logs.synced(piece);
                    }
                });
                let place = self.places.get(&who.thread).filter(|_| any);
                self.synced.extend(place.and_then(Place::last_at));
            }
            _ => {}
        }
    }

    fn content(&mut self, who: Executor<'_>, _: u64, content: Content<'_>) {
        self.enter(who.process);
        let (Some(values), Some(space)) = (&mut self.values, self.spaces.get(&who.process)) else {
            return;
        };
        let place = self.places.entry(who.thread).or_default();
        let last = place.last.map(|(site, instr)| {
            let first = First {
                process: who.process,
                thread: who.thread,
                instr,
                address: 0,
                offset: 0,
            };
            (site, first)
        });
        let (memory, logs) = (&mut self.memory, &mut self.logs);
        let pending = self.threads.entry(who.thread).or_default();
        let at = (last, place.stack.node());
        values.content(&content, at, who.thread, space, |come| match come {
            Come::Stored(stored) | Come::Written(stored) => {
                if matches!(come, Come::Written(_)) {
                    let store = Store {
                        at: stored.at,
                        first: stored.first,
                        non_temporal: false,
                    };
                    memory.store(pending, store, stored.piece);
                }
                memory.stored(&stored, space);
                if let Some(logs) = logs {
                    logs.stored(&stored);
                }
            }
            Come::Held(held) => {
                memory.held(&held);
                if let Some(logs) = logs {
                    logs.held(&held);
                }
            }
        });
    }
}
