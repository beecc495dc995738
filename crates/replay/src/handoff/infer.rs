//! The pass over a recording that finds hand-offs: all threads, in order of their stamps.

use prestore_trace::block::{Block, XsaveComponent};
use prestore_trace::container::Trace;
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};
use prestore_trace::{EventKind, SiteId};
use rustc_hash::FxHashSet;

use super::places::{Places, Relation, Write};
use super::sections::{Attempt, LastSites, Locks, Roles, Section};
use super::settle::settle;
use super::spawns::Spawns;
use super::watcher::{Poll, Watcher};
use super::{HandOffCounts, HandOffs, LOOP};
use crate::cursor::Cursor;
use crate::marks::{MAX_NUMBER, Mark};
use crate::ordered::{self, Stretch, Stretches};
use crate::{Options, SourceError, Waits, chosen};

impl HandOffs {
    /// Reads the recording of the threads that `options` choose, twice: where atomics are, then
    /// what they hand over. One thread alone is not read.
    ///
    /// # Errors
    /// As [`crate::TraceSource::open`].
    pub fn infer(trace: &Trace, options: &Options) -> Result<Self, SourceError> {
        let threads = chosen::threads(trace, options)?;
        if threads.len() < 2 {
            return Ok(Self::default());
        }
        let mut decoder = chosen::decoder()?;
        let mut places = Places::new();
        let mut roles = Roles::default();
        for &(thread, _) in &threads {
            let mut last = LastSites::default();
            let mut cursor = Cursor::new(trace, thread, options.lenient)?;
            while cursor.load(&mut decoder)? {
                let table = cursor.table();
                let mut atomics = Atomics {
                    xsave: table.xsave(),
                    places: &mut places,
                    roles: &mut roles,
                    last: &mut last,
                };
                cursor.replay(&mut atomics)?;
            }
        }
        let mut walk = Walk {
            watchers: threads.iter().map(|_| Watcher::default()).collect(),
            marks: vec![Vec::new(); threads.len()],
            places,
            spawns: Spawns::default(),
            counts: HandOffCounts::default(),
            numbers: 0,
            leave_out: options.waits == Waits::LeaveOut,
            releases: roles.releases(),
            sections: vec![Vec::new(); threads.len()],
            locks: Locks::default(),
        };
        let mut cursors = Vec::new();
        for &(thread, process) in &threads {
            cursors.push(Cursor::new(trace, thread, options.lenient)?);
            walk.spawns.thread(process, &trace.process(process));
        }
        ordered::walk(&mut cursors, &mut decoder, &mut walk)?;
        walk.mark_sections();
        let Walk {
            marks, mut counts, ..
        } = walk;
        let packed = settle(marks, walk.numbers, &mut counts);
        let ids = threads.iter().map(|t| t.0);
        Ok(Self {
            threads: ids.zip(packed).collect(),
            counts,
        })
    }
}

/// Notes the addresses of atomics, and what their sites are there for.
struct Atomics<'a> {
    xsave: &'a [XsaveComponent],
    places: &'a mut Places,
    roles: &'a mut Roles,
    last: &'a mut LastSites,
}

impl ExecSink for Atomics<'_> {
    fn exec(&mut self, _: u64, block: &Block, values: &[u64], executed: u32) {
        for r in &block.refs {
            if r.kind == EventKind::AtomicRmw && u32::from(r.instr) < executed {
                each_touch(self.xsave, r, values, |addr, _| {
                    self.places.at(addr);
                    self.roles.atomic(self.last, addr, r.site);
                });
            }
        }
    }

    fn special(&mut self, _: u64, _: Special) {}
}

/// What is known of all threads.
struct Walk {
    watchers: Vec<Watcher>,
    marks: Vec<Vec<(u64, Mark)>>,
    places: Places,
    spawns: Spawns,
    counts: HandOffCounts,
    /// Numbers given.
    numbers: u32,
    leave_out: bool,
    /// Sites of atomics that release.
    releases: FxHashSet<SiteId>,
    /// A thread each.
    sections: Vec<Vec<Section>>,
    locks: Locks,
}

impl Walk {
    fn number(&mut self) -> Option<u32> {
        let number = self.numbers;
        (number < MAX_NUMBER).then(|| {
            self.numbers += 1;
            number
        })
    }

    /// A thread's stretch begins: if it is its first, its creator made it before.
    fn spawned(&mut self, thread: usize, ticks: u64) {
        let Some((creator, events)) = self.spawns.creator(thread, ticks) else {
            return;
        };
        if let Some(number) = self.number() {
            self.marks[creator].push((events, Mark::HandOff(number)));
            self.marks[thread].push((0, Mark::Await(number)));
            self.counts.spawned += 1;
        }
    }

    /// An atomic of a site that does not release is an attempt to acquire its address.
    fn acquire_or_release(&mut self, addr: u64, write: Write) {
        let watcher = &self.watchers[write.thread as usize];
        let place = self.places.at(addr);
        let before = place.end_attempt(write.thread);
        if self.releases.contains(&write.site) {
            if let Some(attempt) = before {
                self.section(addr, attempt, write);
            }
            return;
        }
        let poll = watcher.look(addr);
        let near = |b: Attempt| {
            let since = poll.map_or(write.event, |p| p.first);
            since.saturating_sub(b.last) <= LOOP && !watcher.worked_since(b.last)
        };
        let waited = before.is_some_and(near);
        let who = (write.thread, write.event, write.ticks);
        place.attempt(Attempt::next(before, who, poll, waited));
    }

    /// A thread that acquired `addr` with its last attempt releases it.
    fn section(&mut self, addr: u64, attempt: Attempt, release: Write) {
        let place = self.places.at(addr);
        let Some(lock) = place.lock(&mut self.locks) else {
            return;
        };
        (self.locks).section(lock, attempt.thread, attempt.ticks, release.ticks);
        self.sections[attempt.thread as usize].push(Section {
            lock,
            first: attempt.first,
            from: attempt.from,
            until: release.event + 1,
        });
    }

    /// Of the sections, those of locks become marks.
    fn mark_sections(&mut self) {
        let sections = std::mem::take(&mut self.sections);
        for (marks, sections) in self.marks.iter_mut().zip(sections) {
            let kept = sections.iter().filter(|s| self.locks.excludes(s.lock));
            for section in kept {
                self.counts.sections += 1;
                marks.push((section.from, Mark::Acquire(section.lock)));
                marks.push((section.until, Mark::Release(section.lock)));
                if self.leave_out && section.first < section.from {
                    marks.push((section.first, Mark::Leave));
                    marks.push((section.from, Mark::Resume));
                }
            }
        }
    }

    fn atomic(&mut self, addr: u64, write: Write) {
        self.counts.atomics += 1;
        self.acquire_or_release(addr, write);
        let thread = write.thread as usize;
        let poll = self.watchers[thread].poll(addr);
        let times = poll.and_then(|p| self.watchers[thread].time_of(&p));
        let place = self.places.at(addr);
        let relation = place.atomic(write);
        let stored = match times {
            Some(times) => place.take(write.thread, times, &self.watchers),
            None => None,
        };
        let watcher = &mut self.watchers[thread];
        if relation == Relation::Own && stored.is_none() {
            watcher.writes(addr, write.site);
            return;
        }
        watcher.work();
        let from = match (relation, stored) {
            (_, Some(store)) => store,
            (Relation::Message(a), None) => a,
            _ => {
                self.counts.locks += 1;
                return;
            }
        };
        match (poll, times) {
            // It may have seen `from`: the thread had come to no other stamp before that began.
            (Some(poll), Some((_, until))) if from.ticks < until => self.order(from, thread, poll),
            _ => self.counts.unpolled += 1,
        }
    }

    fn order(&mut self, from: Write, thread: usize, poll: Poll) {
        let Some(number) = self.number() else {
            self.counts.unpolled += 1;
            return;
        };
        self.counts.enforced += 1;
        let published = from.event + 1;
        self.marks[from.thread as usize].push((published, Mark::HandOff(number)));
        let marks = &mut self.marks[thread];
        marks.push((poll.last, Mark::Await(number)));
        if self.leave_out && poll.first < poll.last {
            self.counts.waits += 1;
            marks.push((poll.first, Mark::Leave));
            marks.push((poll.last, Mark::Resume));
        }
    }
}

impl Walk {
    #[inline]
    fn event(&mut self, of: &Stretch<'_>, kind: EventKind, addr: u64, site: SiteId) {
        let watcher = &mut self.watchers[of.thread];
        match kind {
            EventKind::Load if self.places.perhaps(addr) => watcher.load(addr, site),
            EventKind::Load => {}
            EventKind::Store => {
                watcher.writes(addr, site);
                if self.places.perhaps(addr)
                    && let Some(place) = self.places.known(addr)
                {
                    let release = write(watcher, of, site);
                    place.store(release);
                    if let Some(attempt) = place.end_attempt(release.thread) {
                        self.section(addr, attempt, release);
                    }
                }
            }
            EventKind::NtStore => watcher.writes(addr, site),
            EventKind::AtomicRmw => {
                let write = write(watcher, of, site);
                self.atomic(addr, write);
            }
            EventKind::Fence(_) => {}
            _ => watcher.work(),
        }
        self.watchers[of.thread].events += 1;
    }
}

fn write(watcher: &Watcher, of: &Stretch<'_>, site: SiteId) -> Write {
    Write {
        thread: of.thread as u32,
        site,
        event: watcher.events,
        stretch: watcher.stretch(),
        ticks: of.ticks,
    }
}

impl Stretches for Walk {
    fn begin(&mut self, thread: usize, ticks: u64, begun: bool) {
        if begun {
            self.watchers[thread].stamp(ticks);
            if ticks > 0 {
                self.spawned(thread, ticks);
            }
        } else {
            self.watchers[thread].wake();
            self.watchers[thread].stamp(0);
        }
    }

    #[inline]
    fn exec(&mut self, of: &Stretch<'_>, _: u64, block: &Block, values: &[u64], executed: u32) {
        let xsave = of.table.xsave();
        for r in &block.refs {
            if u32::from(r.instr) >= executed {
                break;
            }
            each_touch(xsave, r, values, |addr, _| {
                self.event(of, r.kind, addr, r.site);
            });
        }
    }

    fn special(&mut self, of: &Stretch<'_>, _: u64, special: Special) {
        match special {
            Special::Spawn { ticks } => {
                let events = self.watchers[of.thread].events;
                self.spawns.spawn(of.thread, ticks, events);
            }
            Special::Alloc { .. } => self.event(of, EventKind::Alloc, 0, SiteId::NONE),
            Special::Free { .. } => self.event(of, EventKind::Free, 0, SiteId::NONE),
            _ => {}
        }
    }

    fn end(&mut self, thread: usize) {
        self.watchers[thread].sleep();
    }
}
