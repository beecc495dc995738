//! Flushes and demotions on their way.

use prestore_machine::Core;
use prestore_trace::{FlushKind, LineAddr};

use super::env::Env;
use super::fills::FillBuffers;
use super::params::Params;
use crate::{Below, LineState, Time};

/// A store that has not reached the cache: its number in the store path.
pub(super) type StoreNumber = u64;

/// What is done to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Flush(FlushKind),
    Demote,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    line: LineAddr,
    action: Action,
    /// It may go from here on, as far as it is known.
    ready: Time,
    /// The youngest older store to the line, while that has not reached the cache.
    after: Option<StoreNumber>,
    /// Stores from this number on are younger.
    before: StoreNumber,
}

/// Flushes and demotions that were executed and wait: for an older store to their line, for a flush
/// of the same line to be taken, for a fill buffer. Among lines there is no order.
#[derive(Clone, Debug)]
pub(super) struct Flushes {
    pending: Vec<Pending>,
    capacity: usize,
    /// When the memory controller has taken all that were sent: fences wait for this.
    pub done: Time,
    /// Demotions take buffers, too.
    demotions_hold: bool,
}

impl Flushes {
    /// Room for as many as the store buffer has entries.
    pub fn new(core: &Core) -> Self {
        let capacity = core.store_buffer.entries.max(1) as usize;
        Self {
            pending: Vec::with_capacity(capacity),
            capacity,
            done: Time::ZERO,
            demotions_hold: core.demote_hold.is_some(),
        }
    }

    pub fn is_full(&self) -> bool {
        self.pending.len() == self.capacity
    }

    /// Is there any flush that has not been sent?
    pub fn any(&self) -> bool {
        let is_flush = |p: &Pending| matches!(p.action, Action::Flush(_));
        self.pending.iter().any(is_flush)
    }

    /// There is room for it.
    pub fn push(
        &mut self,
        line: LineAddr,
        action: Action,
        ready: Time,
        (after, before): (Option<StoreNumber>, StoreNumber),
    ) {
        self.pending.push(Pending {
            line,
            action,
            ready,
            after,
            before,
        });
    }

    /// May store `number` leave a store buffer that drains in order? Not before older flushes and demotions, which
    /// leave it, too.
    #[inline]
    pub fn let_pass(&self, number: StoreNumber) -> bool {
        self.pending.iter().all(|pending| pending.before > number)
    }

    /// Store `number` has reached the cache, or will have, at `at`. Answers whether anything waited
    /// for that.
    #[inline]
    pub fn stored(&mut self, number: StoreNumber, at: Time) -> bool {
        let mut any = false;
        for pending in &mut self.pending {
            if pending.after == Some(number) {
                pending.after = None;
                pending.ready = pending.ready.max(at);
                any = true;
            }
        }
        any
    }

    /// Does a flush wait that takes `line` out of the caches, or the nearest of them?
    pub fn drops(&self, line: LineAddr, params: &Params) -> bool {
        self.pending.iter().any(|pending| {
            pending.line == line
                && matches!(pending.action, Action::Flush(kind) if !params.retains(kind))
        })
    }

    /// When the next one goes, and which it is; the oldest among those of one time.
    #[inline]
    pub fn next(&self, fills: &FillBuffers) -> Option<(Time, usize)> {
        if self.pending.is_empty() {
            return None;
        }
        let known = self.pending.iter().enumerate();
        known
            .filter(|(_, pending)| pending.after.is_none())
            .map(|(i, pending)| (pending.start(fills, self.demotions_hold), i))
            .min()
    }

    /// The one that [`Flushes::next`] answered goes at `at`.
    pub fn send<B: Below>(&mut self, which: usize, at: Time, env: &mut Env<'_, B>) {
        let pending = self.pending.remove(which);
        match pending.action {
            Action::Flush(kind) => {
                let done = flush(at, pending.line, kind, env);
                self.done = self.done.max(done);
            }
            // Nobody waits for it.
            Action::Demote => {
                let there = env.below.demote(env.params.id, at, pending.line);
                if let Some(hold) = env.params.demote_hold.filter(|_| there > at) {
                    env.fills.take_demotion(pending.line, at, at + hold);
                }
            }
        }
    }
}

impl Pending {
    fn start(&self, fills: &FillBuffers, demotions_hold: bool) -> Time {
        match self.action {
            Action::Demote if !demotions_hold => self.ready,
            Action::Demote => fills.free_for_flush(self.ready),
            Action::Flush(_) => flush_start(self.ready, self.line, fills),
        }
    }
}

/// When a flush of `line` that is ready at `ready` can go: an older one of the same line is taken, the line is
/// here, and a buffer is free.
pub(super) fn flush_start(ready: Time, line: LineAddr, fills: &FillBuffers) -> Time {
    let alone = fills.flush_until(line, ready).unwrap_or(ready);
    let here = fills.find(line, alone).map_or(alone, |fill| fill.until);
    fills.free_for_flush(here)
}

/// Sends a flush; answers when it is taken.
pub(super) fn flush<B: Below>(
    at: Time,
    line: LineAddr,
    kind: FlushKind,
    env: &mut Env<'_, B>,
) -> Time {
    let retain = env.params.retains(kind);
    let flushed = env.below.flush(env.params.id, at, line, kind, retain);
    match flushed.state {
        LineState::Dirty => env.results.flushed_dirty += 1,
        LineState::Clean => env.results.flushed_clean += 1,
        LineState::Absent => env.results.flushed_absent += 1,
    }
    env.fills
        .take_flush(line, at, flushed.done, env.params.flush_hold);
    flushed.done
}
