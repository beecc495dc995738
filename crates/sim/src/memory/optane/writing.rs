//! Units between buffer and media.

use std::collections::VecDeque;

use super::media::WriteSlot;
use super::presence::Presence;
use crate::Time;

/// Units that wait for their turn on the media or are being written there, in order of hand-over.
#[derive(Debug)]
pub(super) struct Writing {
    slots: VecDeque<(u64, WriteSlot)>,
    known: Presence,
}

impl Writing {
    /// Nothing is on its way.
    pub(super) fn new() -> Self {
        Self {
            slots: VecDeque::new(),
            known: Presence::new(),
        }
    }

    /// `unit` is written in `slot`.
    pub(super) fn push(&mut self, unit: u64, slot: WriteSlot) {
        self.slots.push_back((unit, slot));
        self.known.add(unit);
    }

    /// Does a write of `unit` begin after `at`, so that it takes along what comes now?
    pub(super) fn waits(&self, unit: u64, at: Time) -> bool {
        self.known.may_have(unit)
            && (self.slots.iter()).any(|(u, slot)| *u == unit && slot.start > at)
    }

    /// When `unit` is on the media (zero: it is not on its way there).
    pub(super) fn done(&self, unit: u64) -> Time {
        self.last(unit).map_or(Time::ZERO, |slot| slot.end)
    }

    /// When `unit` can be read from the media.
    pub(super) fn readable(&self, unit: u64) -> Time {
        self.last(unit).map_or(Time::ZERO, |slot| slot.readable)
    }

    /// The last write of `unit` that is on its way.
    #[inline]
    fn last(&self, unit: u64) -> Option<&WriteSlot> {
        if !self.known.may_have(unit) {
            return None;
        }
        let (_, slot) = self.slots.iter().rfind(|(u, _)| *u == unit)?;
        Some(slot)
    }

    /// Forgets what was on the media before `now`.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some(&(unit, slot)) = self.slots.front()
            && slot.end <= now
        {
            self.slots.pop_front();
            self.known.remove(unit);
        }
    }

    /// When all is on the media.
    pub(super) fn all_done(&self) -> Time {
        let ends = self.slots.iter().map(|(_, slot)| slot.end);
        ends.max().unwrap_or(Time::ZERO)
    }
}
