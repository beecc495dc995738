//! Weak: a write buffer that holds lines back and merges stores into them.

mod draining;
mod slot;

use prestore_machine::StoreBuffer as Described;
use prestore_machine::quantity::Clock;
use prestore_trace::LineAddr;

use self::slot::{Cause, Slot, State};
use super::{Pending, Way};
use crate::core::env::Env;
use crate::core::filter::Filter;
use crate::core::flushes::StoreNumber;
use crate::{Below, ByteMask, Time};

/// No time is set for it.
const NEVER: Time = Time(u64::MAX);

/// Lines are held until the buffer is full enough, their timer runs out, or something asks for
/// them; a few at a time they fetch ownership and go.
#[derive(Clone, Debug)]
pub(in crate::core) struct WriteBuffer {
    slots: Box<[Slot]>,
    /// When each of the drains that go on at once is free.
    drains: Box<[Time]>,
    /// The same, for lines that a fence waits for; none: they take their turn with the others.
    fences: Box<[Time]>,
    /// The same, for lines that were asked for.
    pushes: Box<[Time]>,
    held: usize,
    drain_at: usize,
    timeout: Option<Time>,
    merge_restarts_timer: bool,
    /// From ownership to visibility.
    drain: Time,
    pub next_number: StoreNumber,
    /// Where the last store went.
    recent: usize,
    /// When all that drained is visible.
    pub visible: Time,
    pub filter: Filter,
}

impl WriteBuffer {
    pub fn new(described: &Described, clock: Clock) -> Self {
        let entries = described.entries.max(1) as usize;
        let free = Slot {
            line: LineAddr(0),
            bytes: 0,
            state: State::Draining(Time::ZERO),
            cause: Cause::Age,
            ready: Time::ZERO,
            number: 0,
            way: Way::Cached,
            counted: false,
        };
        Self {
            slots: vec![free; entries].into(),
            drains: ways(described.drain_parallel.max(1)),
            fences: ways(described.fence_parallel.unwrap_or(0)),
            pushes: ways(described.push_parallel.unwrap_or(0)),
            held: 0,
            drain_at: described.drain_at.map_or(usize::MAX, |n| n.max(1) as usize),
            timeout: described.timeout.map(|t| Time::cycles(t, clock)),
            merge_restarts_timer: described.merge_restarts_timer,
            drain: Time::cycles(described.drain, clock),
            // The slots that never held anything are number 0.
            next_number: 1,
            recent: 0,
            visible: Time::ZERO,
            filter: Filter::new(),
        }
    }

    #[inline]
    fn held_at(&self, line: LineAddr) -> Option<usize> {
        if self.slots[self.recent].holds(line) {
            return Some(self.recent);
        }
        if !self.filter.may_hold(line) {
            return None;
        }
        self.slots.iter().position(|s| s.holds(line))
    }

    pub fn held(&self, line: LineAddr) -> Option<StoreNumber> {
        self.held_at(line).map(|i| self.slots[i].number)
    }

    /// A line that drains is forwarded from too, until it is in the cache. Bytes of the line that no
    /// store has written are the caches'.
    pub fn look(&self, line: LineAddr, bytes: ByteMask, at: Time) -> Pending {
        let mut found = 0;
        let mut youngest = None;
        for slot in self.slots.iter().filter(|s| s.line == line) {
            if slot.bytes & bytes != 0 && slot.is_pending(at) {
                found |= slot.bytes;
                youngest = youngest.max(Some(slot.number));
            }
        }
        match youngest {
            Some(_) if found & bytes == bytes => Pending::All,
            Some(number) => Pending::Some(number),
            None => Pending::None,
        }
    }

    pub fn reached(&self, number: StoreNumber) -> Option<Time> {
        let slot = self.slots.iter().find(|s| s.number == number);
        match slot.map(|s| s.state) {
            Some(State::Held(_)) => None,
            Some(State::Draining(end)) => Some(end),
            None => Some(Time::ZERO),
        }
    }

    pub fn any_pending(&self) -> bool {
        self.held > 0
    }

    pub fn have_begun(&self, number: StoreNumber) -> bool {
        let waits = |s: &Slot| matches!(s.state, State::Held(_)) && s.number < number;
        !self.slots.iter().any(waits)
    }

    pub fn press_all(&mut self, at: Time) {
        for slot in &mut self.slots {
            if let State::Held(due) = slot.state
                && due > at
                && !self.fences.is_empty()
            {
                slot.cause = Cause::Fence;
            }
            slot.press(at);
        }
    }

    pub fn press(&mut self, line: LineAddr, at: Time) {
        if let Some(i) = self.held_at(line) {
            self.slots[i].press(at);
            if !self.pushes.is_empty() {
                self.slots[i].cause = Cause::Asked;
            }
        }
    }

    pub fn room(&self, line: LineAddr, at: Time) -> Option<Time> {
        if self.held_at(line).is_some() {
            return Some(at);
        }
        let free = self.slots.iter().filter_map(|s| match s.state {
            State::Draining(end) => Some(end),
            State::Held(_) => None,
        });
        free.min().map(|end| end.max(at))
    }

    /// The line that the last store went to.
    pub fn newest(&self) -> StoreNumber {
        self.slots[self.recent].number
    }

    pub fn make_room(&mut self, at: Time) {
        self.press_oldest(at);
    }

    fn press_oldest(&mut self, at: Time) {
        let unpressed = |s: &&mut Slot| matches!(s.state, State::Held(due) if due > at);
        let oldest = self.slots.iter_mut().filter(unpressed);
        if let Some(slot) = oldest.min_by_key(|s| s.number) {
            slot.press(at);
        }
    }

    #[inline]
    pub fn push<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        at: Time,
        (ready, way): (Time, Way),
        env: &mut Env<'_, B>,
    ) -> Time {
        let timer = self.timeout.map_or(NEVER, |t| at + t);
        if let Some(i) = self.held_at(line) {
            env.results.merged += 1;
            self.recent = i;
            let slot = &mut self.slots[i];
            slot.bytes |= bytes;
            slot.ready = slot.ready.max(ready);
            if let State::Held(due) = &mut slot.state {
                // What was asked to go stays asked.
                if self.merge_restarts_timer && *due > at {
                    *due = timer;
                }
                return *due;
            }
        }
        self.allocate(line, bytes, at, (ready, way), timer)
    }

    /// The youngest store of line number `number` retires at `ready`.
    pub fn retire(&mut self, number: StoreNumber, ready: Time) -> Time {
        let slot = self.slots.iter_mut().find(|s| s.number == number);
        match slot {
            Some(slot) => {
                slot.ready = ready;
                ready
            }
            None => NEVER,
        }
    }

    fn allocate(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        at: Time,
        (ready, way): (Time, Way),
        timer: Time,
    ) -> Time {
        let free = |s: &Slot| matches!(s.state, State::Draining(end) if end <= at);
        let found = self.slots.iter().position(free);
        debug_assert!(found.is_some(), "room is waited for before a store comes");
        let i = found.unwrap_or(0);
        if self.slots[i].counted {
            self.filter.remove(self.slots[i].line);
        }
        self.filter.add(line);
        self.slots[i] = Slot {
            line,
            bytes,
            state: State::Held(timer),
            cause: Cause::Age,
            ready,
            number: self.next_number,
            way,
            counted: true,
        };
        self.next_number += 1;
        self.recent = i;
        self.held += 1;
        if self.held >= self.drain_at {
            self.press_surplus(at);
            return at;
        }
        timer
    }

    /// The buffer holds as many lines as it may, or more: the oldest go.
    fn press_surplus(&mut self, at: Time) {
        let going = |s: &&Slot| matches!(s.state, State::Held(due) if due <= at);
        let staying = self.held - self.slots.iter().filter(going).count();
        for _ in self.drain_at..=staying {
            self.press_oldest(at);
        }
    }
}

/// So many ways out, all free.
fn ways(count: u32) -> Box<[Time]> {
    vec![Time::ZERO; count as usize].into()
}
