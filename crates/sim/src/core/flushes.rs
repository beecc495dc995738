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
    /// When it may go if a buffer is free; unknown where that is to be looked up.
    here: Option<Time>,
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
    /// Of those that are pending: the flushes, and those that wait for a store.
    flushes: usize,
    behind_stores: usize,
    /// What [`Flushes::next`] knows holds for so many takes of fill buffers.
    takes: u64,
    /// Its last answer, while nothing has changed, and when the first buffer was free then.
    answer: Option<(Time, Option<(Time, usize)>)>,
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
            flushes: 0,
            behind_stores: 0,
            takes: 0,
            answer: None,
        }
    }

    /// Does none wait?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.pending.len() == self.capacity
    }

    /// Is there any flush that has not been sent?
    pub fn any(&self) -> bool {
        self.flushes > 0
    }

    /// There is room for it.
    pub fn push(
        &mut self,
        line: LineAddr,
        action: Action,
        ready: Time,
        (after, before): (Option<StoreNumber>, StoreNumber),
    ) {
        self.flushes += usize::from(action != Action::Demote);
        self.behind_stores += usize::from(after.is_some());
        self.answer = None;
        self.pending.push(Pending {
            line,
            action,
            ready,
            after,
            before,
            here: None,
        });
    }

    /// May store `number` leave a store buffer that drains in order? Not before older flushes and demotions, which
    /// leave it, too.
    #[inline(always)]
    pub fn let_pass(&self, number: StoreNumber) -> bool {
        // Those behind the oldest come before later stores yet.
        self.pending
            .first()
            .is_none_or(|oldest| oldest.before > number)
    }

    /// Store `number` has reached the cache, or will have, at `at`. Answers whether anything waited
    /// for that.
    #[inline(always)]
    pub fn stored(&mut self, number: StoreNumber, at: Time) -> bool {
        if self.behind_stores == 0 {
            return false;
        }
        let mut any = false;
        for pending in &mut self.pending {
            if pending.after == Some(number) {
                pending.after = None;
                pending.ready = pending.ready.max(at);
                self.behind_stores -= 1;
                any = true;
            }
        }
        if any {
            self.answer = None;
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
    #[inline(always)]
    pub fn next(&mut self, fills: &FillBuffers) -> Option<(Time, usize)> {
        if self.pending.is_empty() {
            return None;
        }
        self.forget(fills);
        let first = fills.free_for_flush(Time::ZERO);
        match self.answer {
            Some((of, answer)) if of == first => answer,
            _ => {
                let answer = self.look_for_next(fills);
                self.answer = Some((first, answer));
                answer
            }
        }
    }

    /// Forgets what is known of lines that have taken buffers since.
    #[inline]
    fn forget(&mut self, fills: &FillBuffers) {
        if self.takes == fills.takes() {
            return;
        }
        let pending = &mut self.pending;
        match fills.taken_since(self.takes) {
            Some(lines) => lines.for_each(|line| {
                for pending in pending.iter_mut().filter(|p| p.line == line) {
                    pending.here = None;
                    self.answer = None;
                }
            }),
            None => {
                pending.iter_mut().for_each(|p| p.here = None);
                self.answer = None;
            }
        }
        self.takes = fills.takes();
    }

    fn look_for_next(&mut self, fills: &FillBuffers) -> Option<(Time, usize)> {
        let demotions_hold = self.demotions_hold;
        let known = self.pending.iter_mut().enumerate();
        known
            .filter(|(_, pending)| pending.after.is_none())
            .map(|(i, pending)| (pending.start(fills, demotions_hold), i))
            .min()
    }

    /// The one that [`Flushes::next`] answered goes at `at`, unless another core that has the line refuses: it asks
    /// again then.
    pub fn send<B: Below>(&mut self, which: usize, at: Time, env: &mut Env<'_, B>) {
        let Pending { line, action, .. } = self.pending[which];
        if let Action::Flush(kind) = action
            && let Some(again) = env.refused(at, line, env.params.asks(kind))
        {
            let pending = &mut self.pending[which];
            (pending.ready, pending.here) = (again, None);
            self.answer = None;
            return;
        }
        let pending = self.pending.remove(which);
        self.answer = None;
        self.flushes -= usize::from(pending.action != Action::Demote);
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
    #[inline]
    fn start(&mut self, fills: &FillBuffers, demotions_hold: bool) -> Time {
        match self.action {
            Action::Demote if !demotions_hold => self.ready,
            Action::Demote => fills.free_for_flush(self.ready),
            Action::Flush(_) => {
                let (ready, line) = (self.ready, self.line);
                let here = *self
                    .here
                    .get_or_insert_with(|| taken_and_here(ready, line, fills));
                fills.free_for_flush(here)
            }
        }
    }
}

/// When a flush of `line` that is ready at `ready` can go: an older one of the same line is taken, the line is
/// here, and a buffer is free.
pub(super) fn flush_start(ready: Time, line: LineAddr, fills: &FillBuffers) -> Time {
    fills.free_for_flush(taken_and_here(ready, line, fills))
}

/// The same but for the buffer.
fn taken_and_here(ready: Time, line: LineAddr, fills: &FillBuffers) -> Time {
    let alone = fills.flush_until(line, ready).unwrap_or(ready);
    fills.find(line, alone).map_or(alone, |fill| fill.until)
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
