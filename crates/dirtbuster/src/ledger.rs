//! What processes that have ended leave behind: sums by place. Nothing in it grows with the number
//! of processes that run the same code.

use prestore_trace::replay::NodeId;
use prestore_trace::{EventKind, ProcessId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::back::BackProcess;
use crate::fences::FenceHistogram;
use crate::origins::{Origins, SizeClass, add_class};
use crate::thread::Thread;
use crate::usage::Usage;

/// A store instruction on behalf of a group, in whatever thread and process.
pub(crate) type Place = (SiteId, u32);

/// What one thread executed: exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// Its process.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Instructions, without those outside the recording's scope.
    pub instructions: u64,
    /// Store instructions, atomics included.
    pub stores: u64,
    /// Load instructions, atomics included.
    pub loads: u64,
    /// Fences and atomics.
    pub fences: u64,
}

/// What was executed at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executed {
    pub(crate) stores: u64,
    pub(crate) bytes: u64,
    pub(crate) non_temporal: u64,
    pub(crate) atomic: u64,
    pub(crate) contexts: FxHashMap<NodeId, u64>,
}

/// What became of the data that was written at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) scattered: Usage,
    pub(crate) scattered_bytes: u64,
    pub(crate) classes: Vec<SizeClass>,
    pub(crate) fences: FenceHistogram,
    pub(crate) allocations: FxHashMap<SiteId, u64>,
}

impl Written {
    pub(crate) fn add(&mut self, o: &Self) {
        self.scattered.merge(&o.scattered);
        self.scattered_bytes += o.scattered_bytes;
        self.fences.merge(&o.fences);
        for class in &o.classes {
            add_class(&mut self.classes, class);
        }
        for (site, bytes) in &o.allocations {
            *self.allocations.entry(*site).or_default() += bytes;
        }
    }
}

/// The sums over processes that have ended.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) executed: FxHashMap<Place, Executed>,
    pub(crate) written: FxHashMap<Place, Written>,
    pub(crate) joined: Joined,
    /// By process, once all have been added: see [`Ledger::threads`].
    threads: Vec<ThreadTotals>,
    /// Most bytes that lines and contexts of one process took at its end.
    pub(crate) memory_bytes: usize,
}

impl Ledger {
    /// Adds a process: the front's threads, and what they did to memory.
    pub(crate) fn add(&mut self, threads: &[Thread], mut back: BackProcess) {
        let memory = &mut back.memory;
        let bytes = memory.lines.memory() + memory.contexts.memory();
        self.memory_bytes = self.memory_bytes.max(bytes);
        memory.finish();
        let open = threads.iter().zip(&back.threads).filter(|t| !t.0.ended);
        for (thread, back) in open {
            self.execute(thread, &back.odd_bytes);
        }
        self.write(&back.memory.origins);
    }

    /// What each thread executed, by process and thread.
    pub(crate) fn threads(&self) -> Vec<ThreadTotals> {
        let mut threads = self.threads.clone();
        threads.sort_by_key(|t| (t.process, t.thread));
        threads
    }

    /// Adds what a thread executed.
    pub(crate) fn execute(&mut self, thread: &Thread, odd_bytes: &[u64]) {
        let mut totals = ThreadTotals {
            process: thread.process,
            thread: thread.id,
            instructions: thread.replayer.instrs() - thread.skipped,
            ..ThreadTotals::default()
        };
        let runs = &thread.state.runs;
        for run in &runs.all {
            for at in run.first as usize..run.end as usize {
                let facts = &runs.facts[at];
                let n = run.executions + facts.extra;
                totals.loads += if facts.kind.reads() { n } else { 0 };
                totals.fences += if facts.kind.orders_stores() { n } else { 0 };
                if !facts.kind.writes() {
                    continue;
                }
                totals.stores += n;
                let place = self.executed.entry((facts.site, facts.group)).or_default();
                place.stores += n;
                place.bytes += match facts.size {
                    Some(size) => n * u64::from(size),
                    None => odd_bytes[at],
                };
                match facts.kind {
                    EventKind::NtStore => place.non_temporal += n,
                    EventKind::AtomicRmw => place.atomic += n,
                    _ => {}
                }
                for (node, count) in run.contexts.iter() {
                    *place.contexts.entry(node).or_default() += count;
                }
            }
        }
        self.threads.push(totals);
    }

    fn write(&mut self, origins: &Origins) {
        for i in 0..origins.len() {
            let (o, root) = (origins.get(i), origins.get(origins.root(i)));
            let place = (o.site, o.group);
            self.joined.join(place, (root.site, root.group));
            let written = self.written.entry(place).or_default();
            written.scattered.merge(&o.scattered);
            written.scattered_bytes += o.scattered_bytes;
            written.fences.merge(&o.fences);
            for class in &o.classes {
                add_class(&mut written.classes, class);
            }
        }
        for ((origin, site), bytes) in &origins.allocations {
            let o = origins.get(*origin);
            let written = self.written.entry((o.site, o.group)).or_default();
            *written.allocations.entry(*site).or_default() += bytes;
        }
    }
}

/// Union-find over places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined(FxHashMap<Place, Place>);

impl Joined {
    pub(crate) fn root(&self, mut place: Place) -> Place {
        while let Some(&up) = self.0.get(&place) {
            place = up;
        }
        place
    }

    pub(crate) fn join(&mut self, a: Place, b: Place) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}
