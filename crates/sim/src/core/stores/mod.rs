//! The store path: from dispatch to the nearest cache.

mod merging;
mod ordered;

use prestore_machine::{Machine, MemoryModel};
use prestore_trace::LineAddr;

use self::merging::WriteBuffer;
use self::ordered::StoreBuffer;
use super::env::Env;
use super::flushes::Flushes;
pub(super) use super::flushes::StoreNumber;
use crate::{Below, ByteMask, Time};

/// Stores that have not reached the nearest cache.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one a core, which each access goes through"
)]
#[derive(Clone, Debug)]
pub(super) enum Stores {
    /// TSO.
    Ordered(StoreBuffer),
    /// Weak.
    Merging(WriteBuffer),
}

/// Where a store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To the cache.
    Cached,
    /// The same, and it overwrites the line as a whole, which need not be read.
    Unread,
    /// Through the caches to memory.
    Through,
    /// Around the caches to memory.
    Around,
}

impl Way {
    /// Does it need no line in the cache?
    #[inline]
    pub fn is_past(self) -> bool {
        matches!(self, Self::Through | Self::Around)
    }
}

/// What the pending stores have of the bytes that a load wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// Nothing that matters.
    None,
    /// All of them, in one store or one line.
    All,
    /// All of them, in several stores, of which this is the youngest.
    Several(StoreNumber),
    /// Not all: this store must reach the cache first.
    Some(StoreNumber),
}

impl Stores {
    pub fn new(machine: &Machine) -> Self {
        let core = &machine.core;
        match core.memory_model {
            MemoryModel::Tso => Self::Ordered(StoreBuffer::new(&core.store_buffer)),
            MemoryModel::Weak => Self::Merging(WriteBuffer::new(&core.store_buffer, core.clock)),
        }
    }

    /// False: nothing of `line` is pending.
    #[inline(always)]
    pub fn may_hold(&self, line: LineAddr) -> bool {
        match self {
            Self::Ordered(stores) => stores.may_hold(line),
            Self::Merging(stores) => stores.filter.may_hold(line),
        }
    }

    /// What a load of `bytes` at `at` finds.
    pub fn look(&self, line: LineAddr, bytes: ByteMask, at: Time) -> Pending {
        match self {
            Self::Ordered(stores) => stores.look(line, bytes),
            Self::Merging(stores) => stores.look(line, bytes, at),
        }
    }

    /// The youngest store to `line` that has not reached the cache.
    pub fn youngest(&self, line: LineAddr) -> Option<StoreNumber> {
        if !self.may_hold(line) {
            return None;
        }
        match self {
            Self::Ordered(stores) => stores.youngest(line),
            Self::Merging(stores) => stores.held(line),
        }
    }

    /// Stores on a line that drains now (weak), or any (TSO): is it known when `number` reached the
    /// cache?
    pub fn reached(&self, number: StoreNumber) -> Option<Time> {
        match self {
            Self::Ordered(stores) => stores.reached(number),
            Self::Merging(stores) => stores.reached(number),
        }
    }

    /// Nothing that is pending may wait any longer than it must, from `at` on (a fence).
    pub fn press_all(&mut self, at: Time) {
        if let Self::Merging(stores) = self {
            stores.press_all(at);
        }
    }

    /// The same of one line.
    pub fn press(&mut self, line: LineAddr, at: Time) {
        if let Self::Merging(stores) = self {
            stores.press(line, at);
        }
    }

    /// Does the next store to `line` need no entry of its own? Otherwise, when one is free; `None`
    /// if that depends on something that has not begun.
    #[inline(always)]
    pub fn room(&self, line: LineAddr, at: Time) -> Option<Time> {
        match self {
            Self::Ordered(stores) => stores.room(at),
            Self::Merging(stores) => stores.room(line, at),
        }
    }

    /// Makes something begin that makes room.
    pub fn make_room(&mut self, at: Time) {
        if let Self::Merging(stores) = self {
            stores.make_room(at);
        }
    }

    /// When all before the youngest store to `line` has retired; `None`: there is none, or stores are
    /// held back.
    pub fn ready(&self, line: LineAddr) -> Option<Time> {
        match self {
            Self::Ordered(stores) => stores.ready(line),
            Self::Merging(_) => None,
        }
    }

    /// Store `number`, which came while a load before it waited, retires at `ready`. Answers when something is due
    /// because of it.
    pub fn retire(&mut self, number: StoreNumber, ready: Time) -> Time {
        match self {
            Self::Ordered(stores) => stores.retire(number, ready),
            Self::Merging(stores) => stores.retire(number, ready),
        }
    }

    /// A store at `at`, when there is room; it retires at `ready`. Answers when something is due because of it.
    #[inline(always)]
    pub fn push<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        at: Time,
        (ready, way): (Time, Way),
        env: &mut Env<'_, B>,
    ) -> Time {
        match self {
            Self::Ordered(stores) => stores.push(line, bytes, ready, way),
            Self::Merging(stores) => stores.push(line, bytes, at, (ready, way), env),
        }
    }

    /// Does what is due until `limit`. Answers when the next thing is, and stops early where a
    /// flush waited for what was done.
    #[inline(always)]
    pub fn run<B: Below>(
        &mut self,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Run {
        match self {
            Self::Ordered(stores) => stores.run::<B, false>(limit, flushes, env),
            Self::Merging(stores) => stores.run(limit, flushes, env),
        }
    }

    /// As [`Stores::run`], where no flush waits. Answers when the next thing is due.
    #[inline(always)]
    pub fn run_alone<B: Below>(
        &mut self,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Time {
        loop {
            let ran = match self {
                Self::Ordered(stores) => stores.run::<B, true>(limit, flushes, env),
                Self::Merging(stores) => stores.run(limit, flushes, env),
            };
            if let Run::Idle(next) = ran
                && (next > limit || next == Time(u64::MAX))
            {
                return next;
            }
        }
    }

    /// Is there anything that has not begun to drain?
    pub fn any(&self) -> bool {
        self.any_pending() || self.any_flush()
    }

    /// Is there a flush among the stores?
    pub fn any_flush(&self) -> bool {
        match self {
            Self::Ordered(stores) => stores.any_flush(),
            Self::Merging(_) => false,
        }
    }

    /// Is there any store that has not begun to drain?
    pub fn any_pending(&self) -> bool {
        match self {
            Self::Ordered(stores) => stores.any_pending(),
            Self::Merging(stores) => stores.any_pending(),
        }
    }

    /// The number of the store that came last, or of the line that it was merged into.
    pub fn newest(&self) -> StoreNumber {
        match self {
            Self::Ordered(stores) => stores.next_number() - 1,
            Self::Merging(stores) => stores.newest(),
        }
    }

    /// The number of the store that comes next.
    pub fn next_number(&self) -> StoreNumber {
        match self {
            Self::Ordered(stores) => stores.next_number(),
            Self::Merging(stores) => stores.next_number,
        }
    }

    /// Have all stores with smaller numbers begun to drain, so that [`Stores::visible`] has them?
    pub fn have_begun(&self, number: StoreNumber) -> bool {
        match self {
            Self::Ordered(stores) => stores.have_begun(number),
            Self::Merging(stores) => stores.have_begun(number),
        }
    }

    /// When all stores that have begun to drain are visible.
    pub fn visible(&self) -> Time {
        match self {
            Self::Ordered(stores) => stores.visible,
            Self::Merging(stores) => stores.visible,
        }
    }
}

/// How [`Stores::run`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Nothing more is due before this time.
    Idle(Time),
    /// A flush may be due first.
    Flush,
}
