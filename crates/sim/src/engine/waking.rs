//! Threads that sleep, and what wakes them: hand-offs and releases, once they are visible.

use super::handoffs::{Pledge, Published};
use super::pipeline::{Pipeline, Uncore};
use super::run::{Run, Turn};
use crate::Time;
use crate::doors::Agents;

impl<S, P: Pipeline, U: Uncore, A: Agents> Run<'_, S, P, U, A> {
    /// Thread `t` waits for a hand-off; what it left pending happens by `limit`.
    pub(super) fn rest(&mut self, t: usize, limit: Time) -> Turn {
        let next = self.threads[t].core.rest(limit, &mut self.uncore);
        self.publish(t);
        // What it waited for may be its own: a lock that it released and wants again.
        Turn::Parked(next.filter(|_| self.threads[t].parked))
    }

    /// Thread `t` hands something over: it is published when it is visible.
    pub(super) fn pledge(&mut self, t: usize, pledge: Pledge) {
        let thread = &mut self.threads[t];
        thread.pledged.push_back(pledge);
        self.pledges += 1;
        if let Some(visible) = thread.core.hand_off(&mut self.uncore) {
            self.published(t, visible);
        }
    }

    /// Publishes what thread `t` handed over and is known to be visible. Answers whether that woke a
    /// thread.
    #[inline]
    pub(super) fn publish(&mut self, t: usize) -> bool {
        while let Some(visible) = self.threads[t].core.handed_over() {
            self.published(t, visible);
        }
        let woken = std::mem::take(&mut self.woken);
        self.pledges = self.threads.iter().map(|t| t.pledged.len()).sum();
        woken
    }

    /// The oldest that thread `t` pledged is visible at `visible`.
    fn published(&mut self, t: usize, visible: Time) {
        match self.threads[t].pledged.pop_front() {
            Some(Pledge::HandOff {
                number,
                begun,
                message,
            }) => {
                let published = Published {
                    visible,
                    begun,
                    message,
                };
                if let Some(sleeper) = self.handoffs.publish(number, published) {
                    self.threads[sleeper as usize].core.wait_until(visible);
                    self.wake(sleeper);
                }
            }
            Some(Pledge::Release(lock)) => self.released(t, lock, visible),
            Some(Pledge::Helpers(op)) => self.handed_to_helpers(t, &op, visible),
            None => {}
        }
    }

    /// Thread `t` has released `lock`, visible at `at`.
    pub(super) fn released(&mut self, t: usize, lock: u64, at: Time) {
        for next in self.locks.release(lock, t as u32, at) {
            self.has_lock(next, at);
        }
    }

    /// `thread`, which waited, has its lock at `at`.
    pub(super) fn has_lock(&mut self, thread: u32, at: Time) {
        self.threads[thread as usize].core.wait_for_lock(at);
        self.wake(thread);
    }

    /// What `sleeper` waited for has come.
    pub(super) fn wake(&mut self, sleeper: u32) {
        let sleeping = &mut self.threads[sleeper as usize];
        sleeping.parked = false;
        self.ready.push(sleeping.core.clock(), sleeper);
        self.woken = true;
    }
}
