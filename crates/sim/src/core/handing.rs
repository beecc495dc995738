//! What one thread hands to another: it is there when the stores before it are visible.

use std::collections::VecDeque;

use super::flushes::StoreNumber;
use super::pipeline::Core;
use crate::{Below, Time};

/// A hand-off whose stores are not visible yet.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// When it was executed.
    at: Time,
    /// Stores with smaller numbers come before it.
    stores: StoreNumber,
    /// So many non-temporal stores came before it.
    around: u64,
}

/// Hand-offs on their way, in the order in which they were executed.
#[derive(Clone, Debug, Default)]
pub(super) struct Handing {
    pending: VecDeque<Mark>,
    /// When those were visible of which it is known and was not asked yet.
    known: VecDeque<Time>,
}

impl Handing {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl Core {
    /// What was stored so far is handed to another thread. A weak core's held lines go now, as before a
    /// store-release, and so do open write-combining buffers; the clock does not wait.
    /// [`Core::handed_over`] answers when it is visible, once that is known.
    pub fn hand_off<B: Below>(&mut self, below: &mut B) {
        let now = self.front.now;
        self.leave(now, below);
        let at = self.behind_leaving();
        self.stores.press_all(at);
        self.due_at(now);
        self.handing.pending.push_back(Mark {
            at: now,
            stores: self.stores.next_number(),
            around: self.leaving.as_ref().map_or(0, |l| l.queued),
        });
        self.settle(now, below);
    }

    /// When the oldest hand-off that was not asked for yet is visible to other cores, once that is known.
    pub fn handed_over(&mut self) -> Option<Time> {
        self.handing.known.pop_front()
    }

    /// The same as [`Core::hand_off`], and all that is pending is done at once: answers when what was
    /// stored is visible to other cores. The clock does not wait.
    pub fn visible_at<B: Below>(&mut self, below: &mut B) -> Time {
        self.hand_off(below);
        self.leave(Time(u64::MAX), below);
        self.settle(Time(u64::MAX), below);
        let last = self.handing.known.drain(..).next_back();
        last.unwrap_or(self.front.now)
    }

    /// As [`Core::settle_through`], and notes of each hand-off when it is visible.
    #[cold]
    pub(super) fn settle_watching<B: Below>(&mut self, until: Time, below: &mut B) {
        loop {
            // Not beyond the first: what is visible later may belong to later stores.
            let next = self.due.min(until);
            self.settle_through(next, below);
            self.note_visible(below);
            if self.due > until || self.due == Time(u64::MAX) {
                return;
            }
        }
    }

    fn note_visible<B: Below>(&mut self, below: &mut B) {
        while let Some(first) = self.handing.pending.front().copied() {
            let left = self.leaving.as_ref().map_or(0, |l| l.gone());
            if left < first.around || !self.stores.have_begun(first.stores) {
                return;
            }
            let at = self.behind_leaving();
            let (stores, combining, mut env) = self.parts(below);
            let mut visible = first.at.max(stores.visible());
            if let Some(combining) = combining {
                combining.send_all(at, &mut env);
                visible = visible.max(combining.done);
            }
            let around = self.leaving.as_ref().map_or(Time::ZERO, |l| l.visible);
            self.handing.pending.pop_front();
            self.handing.known.push_back(visible.max(around));
        }
    }
}
