//! What processes that have ended, or parts of their runs, leave behind: sums by place. Nothing in it grows with the number
//! of processes that run the same code.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use prestore_trace::EventKind;
use rustc_hash::FxHashMap;

use crate::back::BackProcess;
use crate::executed::{self, Executed, Place, ThreadTotals};
use crate::existing::{Counts, Instruction};
use crate::origins::Origins;
use crate::thread::Part;
use crate::waiting;
use crate::written::Written;

/// The sums over processes that have ended, or over a part of one's run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) executed: FxHashMap<Place, Executed>,
    /// What became of what each place wrote; `None`: nothing that counts. Large programs have many such.
    pub(crate) written: FxHashMap<Place, Option<Box<Written>>>,
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
        add_all(&mut self.executed, o.executed, |to, o| to.add(&o));
        add_all(&mut self.written, o.written, Written::add_if_any);
        for (a, b) in o.joined.0 {
            self.joined.join(a, b);
        }
        add_all(&mut self.met, o.met, |to, times| *to += times);
        add_all(&mut self.judged, o.judged, |to, (_, o)| to.1.merge(&o));
        self.waited += o.waited;
        self.lines_read += o.lines_read;
        self.threads.extend(o.threads);
        self.memory_bytes = self.memory_bytes.max(o.memory_bytes);
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.executed.values_mut().for_each(|e| e.scale(weight));
        let written = self.written.values_mut().flatten();
        written.for_each(|w| w.scale(weight));
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
        let memory = back.memory;
        // What other processes read comes to their own cores.
        let others = memory.others.as_ref().map(|others| others.thread);
        let own = (memory.cores.iter().zip(0..)).filter(|core| Some(core.1) != others);
        self.lines_read += own.map(|(core, _)| core.lines_read()).sum::<u64>();
        for (instruction, counts) in memory.existing.by_instruction() {
            self.judge(instruction.place, instruction.kind, &counts);
        }
        self.write(memory.origins);
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

    fn write(&mut self, origins: Origins) {
        for i in 0..origins.len() {
            let (o, root) = (origins.get(i), origins.get(origins.root(i)));
            let place = (o.site, o.group);
            self.joined.join(place, (root.site, root.group));
            for (first, times) in o.met.all() {
                let first = origins.get(first);
                let pair = (place, (first.site, first.group));
                *self.met.entry(pair).or_default() += times;
            }
        }
        let mut writers = FxHashMap::<Place, u32>::default();
        for o in origins.into_all() {
            let (place, mut written) = ((o.site, o.group), o.written);
            if let Some(written) = written.as_mut().filter(|w| !w.classes.is_empty()) {
                // An origin is of one thread.
                let writers = writers.entry(place).or_default();
                *writers += 1;
                written.writers = *writers;
            }
            Written::add_if_any(self.written.entry(place).or_default(), written);
        }
    }
}

/// Adds `from` to `to`, by key.
fn add_all<K: Eq + Hash, V>(
    to: &mut FxHashMap<K, V>,
    from: FxHashMap<K, V>,
    add: impl Fn(&mut V, V),
) {
    if to.is_empty() {
        *to = from;
        return;
    }
    for (key, value) in from {
        match to.entry(key) {
            Entry::Occupied(mut known) => add(known.get_mut(), value),
            Entry::Vacant(place) => {
                place.insert(value);
            }
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
