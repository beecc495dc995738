//! Loads whose address is another load's data: they go to the caches when that is there, while what does not depend on
//! them goes on. What is behind them in the program's order does not retire before.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use prestore_trace::LineAddr;

use super::pipeline::{Core, NEVER};
use super::stalls::Cause;
use super::stores::StoreNumber;
use crate::{Asks, Below, ServedBy, Time};

/// So many loads back it is known when each is done; [`crate::Op::after`] reaches no farther than what has retired.
const KNOWN: usize = 1024;

/// Of so many stores it is known which load they waited for.
const STORES: usize = 256;

/// What a load gets when it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gets {
    /// Its line, from the caches.
    Line(LineAddr),
    /// What a pending store has, which waited for its own data.
    Forwarded,
}

/// A load that waits.
#[derive(Clone, Copy, Debug)]
struct Load {
    number: u64,
    gets: Gets,
    /// It found a port then.
    ported: Time,
    /// Its place in the reorder window.
    place: usize,
    /// The next that waits for the same load; [`NONE`]: it is the last.
    next: u32,
}

/// No load.
const NONE: u32 = u32::MAX;

/// What is known of a load.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// When it is done; [`NEVER`]: it waits.
    done: Time,
    /// From where its data comes.
    by: ServedBy,
    /// The first that waits for it.
    waiters: u32,
}

const NOTHING: Known = Known {
    done: Time::ZERO,
    by: ServedBy::Cache(0),
    waiters: NONE,
};

/// What retires in order behind a load that waits.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// A load.
    Load(u64),
    /// A store, which is ready then, or when all before it has retired.
    Store { number: StoreNumber, ready: Time },
}

/// The loads of a core that wait, and when the last ones were done.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// Loads so far.
    count: u64,
    /// The last loads, by their number.
    known: Box<[Known; KNOWN]>,
    /// Stores and the loads whose data they write, by the store's number.
    stores: Box<[(StoreNumber, u64); STORES]>,
    /// Those that wait, in places that are used again.
    loads: Vec<Load>,
    free: Vec<u32>,
    /// When each of those can go whose turn is known, and where it is: the first on top.
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    /// How many wait.
    waiting: usize,
    behind: VecDeque<Behind>,
    /// When what came before all of `behind` had retired.
    retired: Time,
    /// What the one that can go first waits for.
    cause: ServedBy,
    /// Are stores of a line merged?
    merges: bool,
}

impl Waiting {
    pub fn new(merges: bool) -> Self {
        Self {
            merges,
            count: 0,
            known: Box::new([NOTHING; KNOWN]),
            stores: Box::new([(StoreNumber::MAX, 0); STORES]),
            loads: Vec::new(),
            free: Vec::new(),
            ready: BinaryHeap::new(),
            waiting: 0,
            behind: VecDeque::new(),
            retired: Time::ZERO,
            cause: ServedBy::Cache(0),
        }
    }

    /// Does any load wait?
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.waiting > 0
    }

    /// When the first of those that wait can go; [`NEVER`]: none waits.
    #[inline]
    pub fn due(&self) -> Time {
        self.ready.peek().map_or(NEVER, |Reverse((due, _))| *due)
    }

    /// Would the next load but one be taken for one that waits?
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.any() && self.known[self.count.wrapping_add(1) as usize % KNOWN].done == NEVER
    }

    /// What holds up dispatch behind the load that waits.
    fn cause(&self) -> Cause {
        Cause::Load(self.cause)
    }

    #[inline(always)]
    fn of(&mut self, number: u64) -> &mut Known {
        &mut self.known[number as usize % KNOWN]
    }

    /// When the load `after` loads back is done; [`NEVER`]: it waits.
    #[inline(always)]
    pub fn ready(&self, after: u16) -> Time {
        if after == 0 || usize::from(after) >= KNOWN {
            return Time::ZERO;
        }
        self.known[self.count.wrapping_sub(u64::from(after)) as usize % KNOWN].done
    }

    /// A line of the load under way is there at `done`.
    #[inline(always)]
    pub fn loaded(&mut self, done: Time, by: ServedBy) {
        let load = self.of(self.count);
        load.done = done.max(load.done);
        load.by = by;
    }

    /// The load under way has been dispatched.
    #[inline(always)]
    pub fn dispatched(&mut self) {
        if self.any() {
            self.behind.push_back(Behind::Load(self.count));
        }
        self.count += 1;
        *self.of(self.count) = NOTHING;
    }

    /// Store `number` writes what the load `after` loads back brings, and retires when `ready` at the earliest.
    #[inline(always)]
    pub fn stores(&mut self, number: StoreNumber, after: u16, ready: Time) {
        if after > 0 {
            let load = self.count.wrapping_sub(u64::from(after));
            self.stores[number as usize % STORES] = (number, load);
        }
        if self.any() {
            self.behind.push_back(Behind::Store { number, ready });
        }
    }

    /// How many loads back the one is that store `number` waited for; 0: none that is near.
    pub fn stored(&self, number: StoreNumber) -> u16 {
        let (of, load) = self.stores[number as usize % STORES];
        if of != number {
            return 0;
        }
        u16::try_from(self.count.wrapping_sub(load)).unwrap_or(0)
    }

    /// The load under way waits for the one `after` loads back.
    fn wait(&mut self, gets: Gets, after: u16, ported: Time, place: usize, retired: Time) {
        if !self.any() {
            self.retired = retired;
        }
        let number = self.count.wrapping_sub(u64::from(after));
        let load = Load {
            number: self.count,
            gets,
            ported,
            place,
            next: NONE,
        };
        let at = self.put(load);
        let awaited = self.of(number);
        if awaited.done == NEVER {
            let next = std::mem::replace(&mut awaited.waiters, at);
            self.loads[at as usize].next = next;
        } else {
            let (due, by) = (awaited.done.max(ported), awaited.by);
            if due < self.due() {
                self.cause = by;
            }
            self.ready.push(Reverse((due, at)));
        }
        self.waiting += 1;
        self.of(self.count).done = NEVER;
    }

    fn put(&mut self, load: Load) -> u32 {
        if let Some(at) = self.free.pop() {
            self.loads[at as usize] = load;
            return at;
        }
        self.loads.push(load);
        self.loads.len() as u32 - 1
    }

    /// Takes the first that can go, and when that is.
    fn take_first(&mut self) -> Option<(Time, Load)> {
        let Reverse((due, at)) = self.ready.pop()?;
        self.free.push(at);
        Some((due, self.loads[at as usize]))
    }

    /// A load that was to go does not before `at`.
    fn again(&mut self, load: Load, at: Time) {
        let place = self.put(load);
        self.ready.push(Reverse((at, place)));
    }

    /// A load that waited is done.
    fn done(&mut self, load: &Load, done: Time, by: ServedBy) {
        self.waiting -= 1;
        self.cause = by;
        let of = self.of(load.number);
        (of.done, of.by) = (done, by);
        let mut next = std::mem::replace(&mut of.waiters, NONE);
        while next != NONE {
            let waiter = self.loads[next as usize];
            self.ready.push(Reverse((done.max(waiter.ported), next)));
            next = waiter.next;
        }
    }

    /// The next store that retires now that all loads before it are done, and when.
    fn next_store(&mut self) -> Option<(StoreNumber, Time)> {
        loop {
            match *self.behind.front()? {
                Behind::Load(number) => {
                    let done = self.of(number).done;
                    if done == NEVER {
                        return None;
                    }
                    self.behind.pop_front();
                    self.retired = self.retired.max(done);
                }
                Behind::Store { number, ready } => {
                    self.behind.pop_front();
                    // One that was merged with a later one retires with that.
                    let is_same =
                        |b: &Behind| matches!(b, Behind::Store { number: of, .. } if *of == number);
                    if !self.merges || !self.behind.iter().any(is_same) {
                        return Some((number, ready.max(self.retired)));
                    }
                }
            }
        }
    }
}

impl Core {
    /// A load that gets its data when the load `after` loads back is done: it waits for that, and dispatch goes on.
    pub(super) fn load_later(&mut self, gets: Gets, after: u16) {
        let ported = self.front.load_port(&self.params, &mut self.results);
        let place = self.front.wait();
        let retired = self.front.retired;
        self.waiting.wait(gets, after, ported, place, retired);
        self.due = self.due.min(self.waiting.due());
    }

    /// The load that can go first goes.
    fn send_waiting<B: Below>(&mut self, below: &mut B) {
        let Some((at, load)) = self.waiting.take_first() else {
            return;
        };
        if B::REFUSES
            && let Gets::Line(line) = load.gets
            && let Some(again) = below.refused(self.params.id, at, line, Asks::Read)
        {
            self.waiting.again(load, again);
            return;
        }
        let (done, by) = match load.gets {
            Gets::Line(line) => self.fetch_later(line, at, below).0,
            Gets::Forwarded => (at + self.params.l1, ServedBy::Cache(0)),
        };
        self.front.waited(load.place, done, by);
        self.waiting.done(&load, done, by);
        while let Some((number, ready)) = self.waiting.next_store() {
            let due = self.stores.retire(number, ready);
            self.due_at(due);
        }
    }

    /// As [`Core::settle`], where loads wait.
    #[cold]
    pub(super) fn settle_loads<B: Below>(&mut self, until: Time, below: &mut B) {
        while self.waiting.due() <= until && self.waiting.any() {
            let due = self.waiting.due();
            self.settle_stores(due, below);
            self.send_waiting(below);
        }
        self.settle_stores(until, below);
        self.due = self.due.min(self.waiting.due());
    }

    /// Dispatches no farther than the reorder window reaches behind a load that waits. Answers whether `instr` is
    /// near enough.
    #[cold]
    pub(super) fn reach_behind_loads<B: Below>(&mut self, instr: u64, below: &mut B) -> bool {
        while let Some(limit) = self.front.limit(&self.params) {
            if limit > instr {
                break;
            }
            self.front
                .dispatch(limit - 1, &self.params, &mut self.results);
            self.catch_up(below);
            if self.is_late() {
                return false;
            }
            if self.front.limit(&self.params) == Some(limit)
                && !self.await_next(self.waiting.cause(), below)
            {
                return false;
            }
        }
        true
    }

    /// Dispatches nothing until no load waits. Answers whether none does.
    #[cold]
    pub(super) fn wait_for_loads<B: Below>(&mut self, below: &mut B) -> bool {
        while self.waiting.any() {
            if !self.await_next(self.waiting.cause(), below) {
                return false;
            }
        }
        true
    }

    /// Lets all loads get done. The clock does not wait.
    #[cold]
    pub(super) fn let_all_loads<B: Below>(&mut self, below: &mut B) {
        while self.waiting.any() {
            self.settle_next(below);
        }
    }

    /// Lets the load `after` loads back get done. Answers when it is. The clock does not wait.
    pub(super) fn let_load<B: Below>(&mut self, after: u16, below: &mut B) -> Time {
        while self.waiting.ready(after) == NEVER && self.waiting.any() {
            self.settle_next(below);
        }
        self.waiting.ready(after)
    }
}
