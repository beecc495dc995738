//! What a store buffer does when it is due: stores ask for their lines, and leave.

use super::entry::Entry;
use super::{StoreBuffer, UNKNOWN};
use crate::core::env::Env;
use crate::core::flushes::{Flushes, flush, flush_start};
use crate::core::params::Params;
use crate::core::stores::{Run, Way};
use crate::{Asks, Below, Time};

/// How [`StoreBuffer::ask`] ended.
enum Ask {
    /// The store has asked.
    Done,
    /// It can at this time.
    At(Time),
}

impl StoreBuffer {
    /// `ALONE`: no flush waits.
    #[inline(always)]
    pub fn run<B: Below, const ALONE: bool>(
        &mut self,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Run {
        loop {
            let drain = if ALONE || self.may_leave(flushes, env.params) {
                self.leaves_at
            } else {
                UNKNOWN
            };
            let asks_by = limit.min(drain);
            let ask = if self.asks_at > asks_by || self.asks_at == UNKNOWN {
                self.asks_at
            } else {
                match self.ask(asks_by, env) {
                    Ask::Done => continue,
                    Ask::At(at) => at,
                }
            };
            let next = drain.min(ask);
            if next > limit || next == UNKNOWN {
                return Run::Idle(next);
            }
            if let Some(later) = self.drain(drain, limit, flushes, env) {
                return later;
            }
        }
    }

    /// The next store, whose turn it is, asks for its line if it can by `limit`.
    #[inline(always)]
    fn ask<B: Below>(&mut self, limit: Time, env: &mut Env<'_, B>) -> Ask {
        let Entry {
            line,
            ask,
            flush: ordered,
            atomic,
            way,
            ..
        } = *self.entry(self.asked);
        if self.waits && self.line_free > limit {
            return Ask::At(self.line_free);
        }
        let owned = if ordered.is_some() || B::TYPES && way.is_past() {
            ask
        } else if env.below.owned(env.params.id, line) {
            let fill = env.fills.find(line, ask);
            fill.map_or(ask, |fill| env.leaves(atomic, fill.granted, fill.until))
        } else {
            let turn = env.after_flush(ask, line).max(self.line_free);
            let start = env.fills.free_at(turn);
            if start > limit {
                self.waits = true;
                return Ask::At(start);
            }
            if let Some(again) = env.refused(start, line, Asks::Own) {
                let asked = self.asked;
                self.entry_mut(asked).ask = again;
                self.asks_at = again;
                return Ask::At(again);
            }
            let served = env.own_filled(start, line, way == Way::Unread);
            self.line_taken(served.done);
            env.leaves(atomic, served.granted, served.done)
        };
        let asked = self.asked;
        self.entry_mut(asked).owned = owned;
        self.asked += 1;
        self.waits = false;
        self.look_who_asks();
        if asked == self.head {
            self.look_who_leaves();
        }
        Ask::Done
    }

    /// The time of the next store to ask is looked up.
    #[inline(always)]
    fn look_who_asks(&mut self) {
        self.asks_at = if self.asked < self.tail && self.asked < self.head + self.ahead {
            self.entry(self.asked).ask
        } else {
            UNKNOWN
        };
    }

    /// The same of the next to leave.
    #[inline(always)]
    fn look_who_leaves(&mut self) {
        self.leaves_at = if self.head < self.asked {
            let oldest = self.entry(self.head);
            self.next.max(oldest.owned).max(oldest.ready)
        } else {
            UNKNOWN
        };
    }

    /// The oldest does not leave before `at`.
    fn stays_until(&mut self, at: Time) -> Option<Run> {
        let oldest = self.head;
        self.entry_mut(oldest).owned = at;
        self.look_who_leaves();
        Some(Run::Idle(at))
    }

    /// May the oldest leave? Where stores leave before their data has come, a flush between them that waits for its
    /// line's data holds them up; elsewhere they wait for data themselves.
    #[inline(always)]
    fn may_leave(&self, flushes: &Flushes, params: &Params) -> bool {
        !params.leaves_when_granted || flushes.let_pass(self.head)
    }

    /// A line is under way until `done`.
    fn line_taken(&mut self, done: Time) {
        if let Some(first) = self.lines.iter_mut().min() {
            *first = done;
            self.line_free = self.lines.iter().min().copied().unwrap_or_default();
        }
    }

    /// The oldest leaves at `at`. Answers how the run ends, if it must.
    #[inline(always)]
    fn drain<B: Below>(
        &mut self,
        at: Time,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Option<Run> {
        let number = self.head;
        let Entry {
            line,
            bytes,
            flush: ordered,
            atomic,
            way,
            ..
        } = *self.entry(number);
        if let Some(kind) = ordered {
            let start = flush_start(at, line, env.fills);
            if start > limit {
                return self.stays_until(start);
            }
            if let Some(again) = env.refused(start, line, env.params.asks(kind)) {
                return self.stays_until(again);
            }
            self.flushes -= 1;
            self.reached = flush(start, line, kind, env);
            self.next = self.reached;
            flushes.done = flushes.done.max(self.reached);
        } else if B::TYPES && way.is_past() {
            if let Some(again) = env.refused(at, line, Asks::Own) {
                return self.stays_until(again);
            }
            let by = env.stored(number);
            self.reached = env.write_past(way, at, line, bytes, &by);
            self.next = self.reached;
            self.visible = self.visible.max(self.reached);
        } else {
            if B::REFUSES
                && !env.below.owned(env.params.id, line)
                && let Some(again) = env.refused(at, line, Asks::Own)
            {
                // It was lost again.
                return self.stays_until(again);
            }
            let by = env.stored(number);
            let (reached, done) = env.write(at, line, bytes, &by);
            self.reached = reached;
            self.next = reached + env.params.store_period;
            self.visible = self.visible.max(done);
            if atomic {
                self.atomics_done.push_back(done);
            }
        }
        self.head += 1;
        // One more belongs to the oldest.
        let old = self.head + self.ahead - 1;
        if old < self.tail {
            let reached = self.reached;
            let entry = self.entry_mut(old);
            entry.ask = entry.ready.max(reached);
            if old == self.asked {
                self.look_who_asks();
            }
        }
        self.look_who_leaves();
        flushes.stored(number, self.reached).then_some(Run::Flush)
    }
}
