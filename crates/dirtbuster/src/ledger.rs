//! What processes that have ended, or parts of their runs, leave behind: sums by place. Nothing in it grows with the number
//! of processes that run the same code.

use prestore_trace::{EventKind, SiteId};
use rustc_hash::FxHashMap;

use crate::back::BackProcess;
use crate::executed::{self, Executed, Place, ThreadTotals};
use crate::existing::{Counts, Instruction};
use crate::far::Far;
use crate::fences::FenceHistogram;
use crate::fresh::Fresh;
use crate::loaded::Loaded;
use crate::lone::Lone;
use crate::origins::{Origins, SizeClass, add_class};
use crate::thread::Part;
use crate::told::Told;
use crate::usage::Usage;
use crate::waiting;

/// What became of the data that was written at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) scattered: Usage,
    pub(crate) scattered_bytes: u64,
    /// Lines that an atomic of the same thread had just taken.
    pub(crate) after_atomic: u64,
    pub(crate) classes: Vec<SizeClass>,
    /// Lines of which other code of the thread wrote other bytes, just before or after.
    pub(crate) joint: u64,
    /// Lines that other code of the thread wrote again soon.
    pub(crate) returned: u64,
    /// Lines that contexts went on with behind a fence.
    pub(crate) parted: u64,
    /// Threads of one process that wrote here in sequence.
    pub(crate) writers: u32,
    pub(crate) loaded: Loaded,
    pub(crate) fresh: Fresh,
    pub(crate) lone: Lone,
    pub(crate) far: Far,
    pub(crate) told: Told,
    pub(crate) fences: FenceHistogram,
    pub(crate) allocations: FxHashMap<SiteId, u64>,
}

impl Written {
    pub(crate) fn add(&mut self, o: &Self) {
        self.scattered.merge(&o.scattered);
        self.scattered_bytes += o.scattered_bytes;
        self.after_atomic += o.after_atomic;
        self.fences.merge(&o.fences);
        self.joint += o.joint;
        self.returned += o.returned;
        self.parted += o.parted;
        self.writers = self.writers.max(o.writers);
        self.loaded.merge(&o.loaded);
        self.fresh.merge(&o.fresh);
        self.lone.merge(&o.lone);
        self.far.merge(&o.far);
        self.told.merge(&o.told);
        for class in &o.classes {
            add_class(&mut self.classes, class);
        }
        for (site, bytes) in &o.allocations {
            *self.allocations.entry(*site).or_default() += bytes;
        }
    }

    fn scale(&mut self, weight: u64) {
        self.scattered.scale(weight);
        self.scattered_bytes *= weight;
        self.after_atomic *= weight;
        self.fences.scale(weight);
        self.joint *= weight;
        self.returned *= weight;
        self.parted *= weight;
        self.loaded.scale(weight);
        self.fresh.scale(weight);
        self.lone.scale(weight);
        self.far.scale(weight);
        self.told.scale(weight);
        for class in &mut self.classes {
            class.scale(weight);
        }
        for bytes in self.allocations.values_mut() {
            *bytes *= weight;
        }
    }
}

/// The sums over processes that have ended, or over a part of one's run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) executed: FxHashMap<Place, Executed>,
    pub(crate) written: FxHashMap<Place, Written>,
    /// Stores that are one write.
    pub(crate) joined: Joined,
    /// How often the first went on with what the second had begun.
    pub(crate) met: FxHashMap<(Place, Place), u64>,
    /// Flushes, fences and non-temporal stores.
    pub(crate) judged: FxHashMap<Place, (EventKind, Counts)>,
    /// Instructions that waited for other threads.
    pub(crate) waited: u64,
    /// Lines that came to a core for a read, estimated.
    pub(crate) lines_read: u64,
    /// By process, once all have been added: see [`Ledger::threads`].
    threads: Vec<ThreadTotals>,
    /// Most bytes that lines and contexts of one process took at its end.
    pub(crate) memory_bytes: usize,
}

impl Ledger {
    /// Lines that the non-temporal stores at `place` sent to memory, whole or in part.
    pub(crate) fn sent_out(&self, place: Place) -> u64 {
        let judged = self.judged.get(&place);
        let stores = judged.filter(|(kind, _)| *kind == EventKind::NtStore);
        stores.map_or(0, |(_, counts)| counts.executed)
    }

    /// Adds what another one holds.
    pub(crate) fn merge(&mut self, o: Self) {
        for (place, executed) in &o.executed {
            self.executed.entry(*place).or_default().add(executed);
        }
        for (place, written) in &o.written {
            self.written.entry(*place).or_default().add(written);
        }
        for (a, b) in o.joined.0 {
            self.joined.join(a, b);
        }
        for (pair, times) in o.met {
            *self.met.entry(pair).or_default() += times;
        }
        for (place, (kind, counts)) in o.judged {
            self.judge(place, kind, &counts);
        }
        self.waited += o.waited;
        self.lines_read += o.lines_read;
        self.threads.extend(o.threads);
        self.memory_bytes = self.memory_bytes.max(o.memory_bytes);
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.executed.values_mut().for_each(|e| e.scale(weight));
        self.written.values_mut().for_each(|w| w.scale(weight));
        self.judged.values_mut().for_each(|j| j.1.scale(weight));
        self.met.values_mut().for_each(|times| *times *= weight);
        self.threads.iter_mut().for_each(|t| t.scale(weight));
        self.waited *= weight;
        self.lines_read *= weight;
    }

    fn judge(&mut self, place: Place, kind: EventKind, counts: &Counts) {
        let entry = self.judged.entry(place);
        entry
            .or_insert_with(|| (kind, Counts::default()))
            .1
            .merge(counts);
    }

    /// Adds a process: the front's threads, and what they did to memory.
    pub(crate) fn add(&mut self, threads: &[Option<Part>], mut back: BackProcess) {
        let memory = &mut back.memory;
        let bytes = memory.lines.memory() + memory.contexts.memory();
        self.memory_bytes = self.memory_bytes.max(bytes);
        memory.finish();
        for (number, thread) in threads.iter().enumerate() {
            if let Some(thread) = thread {
                self.add_thread(thread, number, &mut back);
            }
        }
        let memory = &back.memory;
        // What other processes read comes to their own cores.
        let others = memory.others.as_ref().map(|others| others.thread);
        let own = (memory.cores.iter().zip(0..)).filter(|core| Some(core.1) != others);
        self.lines_read += own.map(|(core, _)| core.lines_read()).sum::<u64>();
        for (instruction, counts) in memory.existing.by_instruction() {
            self.judge(instruction.place, instruction.kind, &counts);
        }
        self.write(&memory.origins);
    }

    /// Adds what the thread of this number in its process executed. What becomes of what it wrote
    /// or flushed is known when the process has ended.
    pub(crate) fn add_thread(&mut self, front: &Part, number: usize, process: &mut BackProcess) {
        let Some(back) = process.threads.get_mut(number) else {
            return;
        };
        let back = std::mem::take(back);
        let totals = executed::add(&mut self.executed, front, &back.odd_bytes);
        self.threads.push(totals);
        self.waited += waiting::instructions(front, &back);
        let facts = front.runs.facts.iter();
        let judged = facts.filter_map(|f| {
            f.judged.map(|number| Instruction {
                number,
                place: (f.site, f.group),
                kind: f.kind,
            })
        });
        let rounds = waiting::rounds(front, &back);
        let memory = &mut process.memory;
        memory.cores[number].stop();
        let existing = &mut memory.existing;
        existing.thread_ends(number as u32, judged.collect(), rounds);
    }

    /// What each thread executed, by process and thread.
    pub(crate) fn threads(&self) -> Vec<ThreadTotals> {
        let mut threads = self.threads.clone();
        threads.sort_by_key(|t| (t.process, t.thread));
        threads.dedup_by(|part, first| {
            let same = (part.process, part.thread) == (first.process, first.thread);
            if same {
                first.add(part);
            }
            same
        });
        threads
    }

    fn write(&mut self, origins: &Origins) {
        let mut writers = FxHashMap::<Place, u32>::default();
        for i in 0..origins.len() {
            let (o, root) = (origins.get(i), origins.get(origins.root(i)));
            let place = (o.site, o.group);
            self.joined.join(place, (root.site, root.group));
            for (first, times) in o.met.all() {
                let first = origins.get(first);
                let pair = (place, (first.site, first.group));
                *self.met.entry(pair).or_default() += times;
            }
            let written = self.written.entry(place).or_default();
            written.scattered.merge(&o.scattered);
            written.scattered_bytes += o.scattered_bytes;
            written.after_atomic += o.after_atomic;
            written.fences.merge(&o.fences);
            written.joint += o.joint;
            written.returned += o.returned;
            written.parted += o.parted;
            if !o.classes.is_empty() {
                // An origin is of one thread.
                let writers = writers.entry(place).or_default();
                *writers += 1;
                written.writers = written.writers.max(*writers);
            }
            written.loaded.merge(&o.loaded);
            written.fresh.merge(&o.fresh);
            written.lone.merge(&o.lone);
            written.far.merge(&o.far);
            written.told.merge(&o.told);
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
