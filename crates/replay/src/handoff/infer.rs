//! The pass over a recording that finds hand-offs: all threads, in order of their stamps.

use prestore_trace::SiteId;
use prestore_trace::container::Trace;
use rustc_hash::FxHashSet;

use super::atomics::Found;
use super::conditions::Conditions;
use super::flags::Flags;
use super::joins::{Join, Joins};
use super::locks::Locks;
use super::neighbours::Neighbours;
use super::pairs::Pairs;
use super::places::{Places, Relation, Write};
use super::scan::{Done, Scanner, What};
use super::sections::{Attempt, Roles, Section};
use super::settle::settle;
use super::space;
use super::spawns::Spawns;
use super::unresolved::Spins;
use super::walk::in_order;
use super::watcher::{Poll, Watcher};
use super::{HandOffCounts, HandOffs, LOOP};
use crate::at_once::at_once;
use crate::marks::{MAX_NUMBER, Mark};
use crate::{Options, SourceError, StackGuess, Waits, chosen};

/// Threads that are read before what was found in them is put together.
const AT_ONCE: usize = 64;

/// Words of one lock lie within so many bytes.
pub(super) const ONE_LOCK: u64 = 64;

impl HandOffs {
    /// Reads the recording of the threads that `options` choose, twice: where atomics are, then
    /// what they hand over. One thread alone is not read.
    ///
    /// # Errors
    /// As [`crate::TraceSource::open`].
    pub fn infer(trace: &Trace, options: &Options) -> Result<Self, SourceError> {
        Self::read(trace, options, false)
    }

    /// As [`HandOffs::infer`], and what threads tell each other by plain loads and stores alone, where they do so as often as the other looks:
    /// an order in which they may have executed, not how a machine would time them.
    ///
    /// # Errors
    /// As [`crate::TraceSource::open`].
    pub fn infer_order(trace: &Trace, options: &Options) -> Result<Self, SourceError> {
        Self::read(trace, options, true)
    }

    fn read(trace: &Trace, options: &Options, with_flags: bool) -> Result<Self, SourceError> {
        let threads = chosen::threads(trace, options)?;
        if threads.len() < 2 {
            return Ok(Self::default());
        }
        let mut places = Places::default();
        let mut roles = Roles::default();
        let mut neighbours = Neighbours::default();
        let numbered: Vec<_> = (0..).zip(threads.iter().copied()).collect();
        for some in numbered.chunks(AT_ONCE) {
            let read = |&(number, thread): &_| Found::read(trace, thread, number, options.lenient);
            for found in at_once(some, read, &|_| ()) {
                let found = found?;
                found.addresses().for_each(|addr| {
                    places.at(addr);
                });
                roles.join(found.roles);
                neighbours.join(found.neighbours);
            }
        }
        let pairs = neighbours.pairs(|addr| places.has(addr));
        let spun = neighbours.into_spun();
        let looks = pairs.iter().map(|(_, look)| look);
        looks.chain(&spun).for_each(|addr| places.note(*addr));
        let mut walk = Walk {
            watchers: threads.iter().map(|_| Watcher::default()).collect(),
            marks: vec![Vec::new(); threads.len()],
            places,
            spawns: Spawns::default(),
            joins: Joins::default(),
            pairs: Pairs::new(&pairs),
            conditions: Conditions::default(),
            spins: Spins::new(&spun, threads.len()),
            flags: Flags::new(spun.iter().filter(|_| with_flags)),
            counts: HandOffCounts::default(),
            numbers: Vec::new(),
            leave_out: options.waits == Waits::LeaveOut,
            releases: roles.releases(),
            sections: vec![Vec::new(); threads.len()],
            locks: Locks::default(),
            wanted: vec![(u64::MAX, 0); threads.len()],
            stamped: false,
        };
        let mut scanners = Vec::new();
        let stacks = StackGuess::all(trace, options)?;
        for &(thread, process) in &threads {
            scanners.push(Scanner::new(trace, (thread, process), options.lenient)?);
            walk.spawns.thread(process, &trace.process(process));
            let stack = stacks.iter().find(|s| s.thread == thread);
            let entry = trace.manifest().threads.get(thread.0 as usize);
            let own = (process, space(trace, process));
            let ends = entry.and_then(|t| t.end_ticks);
            walk.joins.thread(own, stack, ends);
        }
        in_order(scanners, &walk.places.seen(), &mut walk)?;
        let (marks, numbers, mut counts) = walk.finish();
        let packed = settle(marks, numbers, &mut counts);
        let ids = threads.iter().map(|t| t.0);
        Ok(Self {
            threads: ids.zip(packed).collect(),
            counts,
        })
    }
}

/// A stretch of a thread: its place among the threads that are read, and when it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) thread: usize,
    pub(super) ticks: u64,
}

/// What is known of all threads.
pub(super) struct Walk {
    pub(super) watchers: Vec<Watcher>,
    pub(super) marks: Vec<Vec<(u64, Mark)>>,
    places: Places,
    spawns: Spawns,
    joins: Joins,
    pub(super) pairs: Pairs,
    pub(super) conditions: Conditions,
    pub(super) spins: Spins,
    pub(super) flags: Flags,
    pub(super) counts: HandOffCounts,
    /// Of each number given, the address where it is handed over, or 0.
    pub(super) numbers: Vec<u64>,
    pub(super) leave_out: bool,
    /// Sites of atomics that release.
    releases: FxHashSet<SiteId>,
    /// A thread each.
    pub(super) sections: Vec<Vec<Section>>,
    pub(super) locks: Locks,
    /// Where each thread made its last attempt, and behind how many of its events.
    wanted: Vec<(u64, u64)>,
    /// The recording has stamps.
    pub(super) stamped: bool,
}

impl Walk {
    /// A number for what is handed over at `addr`, or by other means (0).
    pub(super) fn number(&mut self, addr: u64) -> Option<u32> {
        let number = u32::try_from(self.numbers.len()).ok()?;
        (number < MAX_NUMBER).then(|| {
            self.numbers.push(addr);
            number
        })
    }

    /// A thread's stretch begins: if it is its first, its creator made it before.
    fn spawned(&mut self, thread: usize, ticks: u64) {
        let Some((creator, events)) = self.spawns.creator(thread, ticks) else {
            return;
        };
        if let Some(number) = self.number(0) {
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
        place.attempt(Attempt::next(before, write, poll, waited));
        self.wanted[write.thread as usize] = (addr, write.event);
    }

    /// A thread that acquired `addr` with its last attempt releases it.
    fn section(&mut self, addr: u64, attempt: Attempt, release: Write) {
        self.watchers[attempt.thread as usize].released(addr);
        let place = self.places.at(addr);
        let Some(lock) = place.lock(addr, &mut self.locks) else {
            return;
        };
        place.released(attempt);
        // It has it for certain from behind the atomic, if there is a time there; whoever comes while it is released has a time
        // before the release, and the lock behind it.
        let timed = release.stretch > attempt.stretch + 1;
        let watcher = &self.watchers[attempt.thread as usize];
        let behind = timed.then(|| watcher.began(attempt.stretch + 1)).flatten();
        let begin = (!attempt.looked).then_some(behind.unwrap_or(attempt.ticks));
        (self.locks).section(lock, attempt.thread, attempt.site, begin, release.ticks);
        self.sections[attempt.thread as usize].push(Section {
            lock,
            site: attempt.site,
            since: attempt.since,
            first: attempt.first,
            from: attempt.from,
            until: release.event + 1,
        });
    }

    /// `thread` has come to the end of another one.
    fn joined(&mut self, thread: usize, join: Join) {
        let Some(number) = self.number(0) else { return };
        let events = self.watchers[join.ended].events;
        self.marks[join.ended].push((events, Mark::HandOff(number)));
        self.marks[thread].push((join.event, Mark::Await(number)));
        self.counts.joined += 1;
    }

    #[inline(never)]
    fn atomic(&mut self, addr: u64, write: Write) {
        self.counts.atomics += 1;
        let thread = write.thread as usize;
        if let Some(join) = self.joins.atomic(thread, addr, write.event, write.ticks) {
            self.joined(thread, join);
        }
        (self.pairs).atomic(addr, write.thread, write.site, write.event);
        let again = (self.places.at(addr)).is_tried_again(write.thread, write.site);
        self.acquire_or_release(addr, write);
        let poll = self.watchers[thread].poll(addr);
        let times = poll.and_then(|p| self.watchers[thread].time_of(&p));
        let place = self.places.at(addr);
        let mut relation = place.atomic(write);
        if let Relation::Message(a) = relation
            && again
            && self.releases.contains(&a.site)
        {
            // It failed before, slept, and has it now.
            relation = Relation::Lock;
        }
        let stored = match times {
            Some(times) => place.take(write.thread, times, &self.watchers),
            None => None,
        };
        let shared = match relation {
            Relation::Lock => place.shared_message(write.thread),
            _ => None,
        };
        let watcher = &mut self.watchers[thread];
        if relation == Relation::Own && stored.is_none() {
            watcher.writes(addr, write.site);
            return;
        }
        watcher.work();
        let from = match (relation, stored, shared) {
            (_, Some(store), _) => store,
            (Relation::Message(a), None, _) => a,
            (_, None, Some(a)) if poll.is_some() => a,
            _ => {
                self.counts.locks += 1;
                return;
            }
        };
        match (poll, times) {
            // It may have seen `from`: the thread had come to no other stamp before that began.
            (Some(poll), Some((_, until))) if from.ticks < until => {
                let looks = (poll.first, poll.last);
                let place = self.places.at(addr);
                if let Some(given) = place.handed_over(from, write, looks) {
                    self.conditions.gives(addr, given);
                }
                self.order(addr, from, thread, poll);
            }
            _ => self.counts.unpolled += 1,
        }
    }

    fn order(&mut self, addr: u64, from: Write, thread: usize, poll: Poll) {
        let Some(number) = self.number(addr) else {
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

    /// `thread` loads from an address that may be one where threads meet.
    #[inline(never)]
    fn load(&mut self, thread: usize, addr: u64, site: SiteId) {
        self.watchers[thread].load(addr, site);
        let event = self.watchers[thread].events;
        let poll = self.watchers[thread].poll(addr);
        self.pairs.load(addr, thread as u32, event, poll);
        self.spins.load(addr, thread, poll);
        self.flags.load(addr, thread, poll);
        let (lock, since) = self.wanted[thread];
        let near = addr != lock && addr.abs_diff(lock) < ONE_LOCK && event - since < ONE_LOCK;
        if near && self.places.has(addr) {
            self.places.at(lock).looked(thread as u32);
        }
    }

    /// It stores to one.
    #[inline(never)]
    fn store(&mut self, of: Stretch, addr: u64, site: SiteId) {
        let watcher = &self.watchers[of.thread];
        let release = write(watcher, of, site);
        self.pairs.write(addr, release.thread, site, release.event);
        self.spins.written(addr, of.thread);
        self.flags.store(addr, of.thread, release.event);
        let Some(place) = self.places.known(addr) else {
            return;
        };
        let attempt = place.end_attempt(release.thread);
        place.store(release, attempt.is_some());
        if let Some(attempt) = attempt {
            self.section(addr, attempt, release);
        }
    }
}

fn write(watcher: &Watcher, of: Stretch, site: SiteId) -> Write {
    Write {
        thread: of.thread as u32,
        site,
        event: watcher.events,
        stretch: watcher.stretch(),
        ticks: of.ticks,
    }
}

/// What [`super::walk`] shows.
impl Walk {
    /// A stretch of a thread begins; `begun`: it is not its first, of which the time may be unknown (0).
    pub(super) fn begin(&mut self, of: Stretch, begun: bool) {
        let watcher = &mut self.watchers[of.thread];
        if begun {
            watcher.stamp(of.ticks);
            if of.ticks > 0 {
                self.spawned(of.thread, of.ticks);
            }
        } else {
            watcher.wake();
            watcher.stamp(0);
            self.spins.begins(of.thread);
        }
    }

    /// The thread of `of` has done so much.
    pub(super) fn has_done(&mut self, of: Stretch, done: Done) {
        self.watchers[of.thread].has_done(done);
    }

    /// What the thread does next.
    pub(super) fn shown(&mut self, of: Stretch, what: What) {
        let watcher = &mut self.watchers[of.thread];
        match what {
            What::Load(addr, site) => self.load(of.thread, addr, site),
            What::Store(addr, site) => {
                watcher.writes(addr, site);
                self.store(of, addr, site);
            }
            What::Write(addr, site) => watcher.writes(addr, site),
            What::Atomic(addr, site) => {
                let write = write(watcher, of, site);
                self.spins.written(addr, of.thread);
                self.flags.atomic(addr);
                self.atomic(addr, write);
            }
            What::Spawn(ticks) => {
                let events = watcher.events;
                self.spawns.spawn(of.thread, ticks, events);
            }
            What::Stamped => self.stamped = true,
            What::Until(_) => {}
        }
    }

    /// A thread has come to its end.
    pub(super) fn end(&mut self, thread: usize) {
        self.joins.end(thread);
        self.watchers[thread].sleep();
    }
}
