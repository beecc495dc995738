//! Non-temporal stores that wait for their turn to leave the core.

use std::collections::VecDeque;

use prestore_machine::Machine;
use prestore_trace::LineAddr;

use super::combining::Room;
use crate::core::filter::Filter;
use crate::core::pipeline::{Core, NEVER};
use crate::core::stalls::Cause;
use crate::{Below, ByteMask, ServedBy, Time};

#[derive(Clone, Copy, Debug)]
struct Store {
    line: LineAddr,
    bytes: ByteMask,
    /// When all before it has retired.
    ready: Time,
    /// Its line came when it was its turn: it goes past the caches all the same.
    around: bool,
}

/// Stores leave in order, when all before them has retired: until then they take no buffer, and what comes behind
/// them goes on. Where hits stay, one that finds its line in the nearest cache is written there; any other
/// goes to a write-combining buffer. There a load of the line that is executed before has fetched it by
/// then, or holds the store up until it has.
#[derive(Clone, Debug)]
pub(in crate::core) struct Leaving {
    queue: VecDeque<Store>,
    capacity: usize,
    /// Stores that came so far.
    pub queued: u64,
    hits_stay: bool,
    /// When the last left.
    pub left: Time,
    /// The next leaves no sooner.
    next: Time,
    /// When the last that was written to the cache was there.
    pub visible: Time,
    filter: Filter,
}

impl Leaving {
    /// `None` where non-temporal stores are plain stores.
    pub fn new(machine: &Machine) -> Option<Self> {
        let combining = machine.core.write_combining?;
        Some(Self {
            hits_stay: combining.hits_stay,
            left: Time::ZERO,
            queue: VecDeque::new(),
            queued: 0,
            capacity: machine.core.store_buffer.entries.max(1) as usize,
            next: Time::ZERO,
            visible: Time::ZERO,
            filter: Filter::new(),
        })
    }

    /// When the next leaves, as far as it is known; [`NEVER`]: there is none.
    fn due(&self) -> Time {
        let first = self.queue.front();
        first.map_or(NEVER, |store| store.ready.max(self.next))
    }

    /// How many have left so far.
    pub fn gone(&self) -> u64 {
        self.queued - self.queue.len() as u64
    }

    /// The first and the last store to `line` in the queue: when the one leaves, and which the other is.
    #[inline]
    fn find(&self, line: LineAddr) -> Option<(Time, usize)> {
        if !self.filter.may_hold(line) {
            return None;
        }
        let of_line = |store: &Store| store.line == line;
        let first = self.queue.iter().find(|store| of_line(store))?;
        let last = self.queue.iter().rposition(of_line)?;
        Some((first.ready.max(self.next), last))
    }
}

impl Core {
    /// Puts a store into the queue; where that is full, dispatch waits. Answers whether it could.
    pub(in crate::core) fn queue_nt_store<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> bool {
        while let Some(leaving) = &self.leaving
            && leaving.queue.len() == leaving.capacity
        {
            self.stall(self.leaves, Cause::WriteCombining);
            if self.is_late() {
                return false;
            }
            self.leave_one(below);
        }
        let (now, ready) = (self.front.now, self.front.now.max(self.front.retired));
        if B::NAMES {
            let name = self.name(bytes);
            self.names.queue(name);
        }
        if let Some(leaving) = &mut self.leaving {
            leaving.filter.add(line);
            leaving.queued += 1;
            leaving.queue.push_back(Store {
                line,
                bytes,
                ready,
                around: false,
            });
            self.leaves = leaving.due();
        }
        self.leave(now, below);
        true
    }

    /// All that are due by `until` leave.
    #[inline]
    pub(in crate::core) fn leave<B: Below>(&mut self, until: Time, below: &mut B) {
        while self.leaves <= until && self.leaves != NEVER {
            self.leave_one(below);
        }
    }

    /// All that are due by `until` leave, and what else is due is done, in order of time.
    #[inline(always)]
    pub(in crate::core) fn leave_and_settle<B: Below>(&mut self, until: Time, below: &mut B) {
        if self.leaves <= until {
            self.leave_in_order(until, below);
        }
        if until >= self.due {
            self.settle(until, below);
        }
    }

    #[inline(never)]
    fn leave_in_order<B: Below>(&mut self, until: Time, below: &mut B) {
        while self.leaves <= until && self.leaves != NEVER {
            let at = self.leaves;
            if self.due < at {
                self.settle(Time(at.0 - 1), below);
            }
            self.leave_one(below);
        }
    }

    /// A load of a line with stores in the queue. It fetches the line at once. If it is there before the
    /// first of them leaves, they and the load find it in the cache. If not, that one waits for the line,
    /// goes past the caches, and the load reads the line again. Answers when the load is done, and
    /// from where; `None` where no store is in the queue, or hits do not stay.
    #[inline(always)]
    pub(in crate::core) fn load_overtaking<B: Below>(
        &mut self,
        line: LineAddr,
        at: Time,
        below: &mut B,
    ) -> Option<(Time, ServedBy)> {
        if self.leaves == NEVER {
            return None;
        }
        let leaving = self.leaving.as_ref().filter(|l| l.hits_stay)?;
        let (leaves, last) = leaving.find(line)?;
        Some(self.overtake(line, at, leaves, last, below))
    }

    fn overtake<B: Below>(
        &mut self,
        line: LineAddr,
        at: Time,
        leaves: Time,
        last: usize,
        below: &mut B,
    ) -> (Time, ServedBy) {
        let (fetched, by) = self.fetch(line, at, below);
        if fetched <= leaves {
            return (leaves, by);
        }
        self.leave_through(last, below);
        let sent = self.send_combined(line, below).max(leaves);
        let taken = self.fills.combined_until(line, sent).unwrap_or(sent);
        self.fetch_later(line, taken, below).0
    }

    /// Now, or when what has left the queue by force did.
    pub(in crate::core) fn behind_leaving(&self) -> Time {
        let left = self.leaving.as_ref().map_or(Time::ZERO, |l| l.left);
        self.front.now.max(self.front.retired).max(left)
    }

    /// All up to the store at `last` of the queue leave, each when it can.
    fn leave_through<B: Below>(&mut self, last: usize, below: &mut B) {
        let behind = |core: &Self| core.leaving.as_ref().map_or(0, |l| l.queue.len());
        let stay = behind(self).saturating_sub(last + 1);
        while behind(self) > stay {
            self.leave_one(below);
        }
    }

    /// All leave, each when it can.
    pub(in crate::core) fn leave_all<B: Below>(&mut self, below: &mut B) {
        while self.leaves != NEVER {
            self.leave_one(below);
        }
    }

    /// All stores to `line` that are in the queue leave, and those before them.
    #[inline]
    pub(in crate::core) fn leave_line<B: Below>(&mut self, line: LineAddr, below: &mut B) {
        if self.leaves != NEVER
            && let Some(leaving) = &self.leaving
            && let Some((_, last)) = leaving.find(line)
        {
            self.leave_through(last, below);
        }
    }

    /// The next leaves, or it becomes known when it can.
    fn leave_one<B: Below>(&mut self, below: &mut B) {
        let Some(leaving) = &self.leaving else { return };
        let Some(&store) = leaving.queue.front() else {
            return;
        };
        let at = self.leaves;
        let left = self.leave_at(store, at, below);
        // It may have given a fill buffer back that a flush waits for.
        self.due_at(at);
        let period = self.params.store_period;
        let Some(leaving) = &mut self.leaving else {
            return;
        };
        match left {
            Left::Gone | Left::Hit => {
                leaving.queue.pop_front();
                leaving.filter.remove(store.line);
                leaving.next = at + period;
                leaving.left = at;
                if let Left::Hit = left {
                    leaving.visible = leaving.visible.max(at);
                }
            }
            Left::NotBefore(later) => leaving.next = later,
            Left::Met(arrives) => {
                leaving.next = arrives;
                if let Some(store) = leaving.queue.front_mut() {
                    store.around = true;
                }
            }
        }
        self.leaves = leaving.due();
    }

    fn leave_at<B: Below>(&mut self, store: Store, at: Time, below: &mut B) -> Left {
        let hits_stay = self.leaving.as_ref().is_some_and(|l| l.hits_stay);
        let (_, combining, mut env) = self.parts(below);
        let Some(combining) = combining else {
            return Left::Gone;
        };
        let mut open = combining.find(store.line);
        let may_hit = hits_stay && !store.around;
        if open.is_none() && may_hit && env.below.owned(env.params.id, store.line) {
            if let Some(fill) = env.fills.find(store.line, at) {
                return Left::Met(fill.until);
            }
            let by = if B::NAMES { env.names.leaves() } else { None };
            env.write(at, store.line, store.bytes, by.as_slice());
            return Left::Hit;
        }
        if open.is_none() {
            let turn = combining.turn(store.line, at);
            if turn > at {
                return Left::NotBefore(turn);
            }
        }
        while open.is_none() {
            match combining.room(at) {
                Room::At(free) if free > at => return Left::NotBefore(free),
                Room::At(_) => {
                    let free = combining.fill_free_at(env.fills, at);
                    if free > at {
                        return Left::NotBefore(free);
                    }
                    open = Some(combining.open(store.line, at, &mut env));
                }
                Room::SendOldest => {
                    let Some(oldest) = combining.oldest() else {
                        return Left::Gone;
                    };
                    combining.send(oldest, at, &mut env);
                }
            }
        }
        if B::NAMES {
            env.names.combine(store.line);
        }
        if let Some(which) = open
            && combining.add(which, store.bytes, env.params.whole)
        {
            combining.send(which, at, &mut env);
        }
        Left::Gone
    }
}

/// How a store tried to leave.
enum Left {
    /// It has left.
    Gone,
    /// It has, and was written to the cache.
    Hit,
    /// It cannot before this time.
    NotBefore(Time),
    /// Its line is on its way to the cache, there at this time.
    Met(Time),
}
