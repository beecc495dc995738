//! Units between buffer and media.

use std::collections::VecDeque;

use super::media::WriteSlot;
use crate::Time;

/// Units that wait for their turn on the media or are being written there, in order of hand-over.
#[derive(Debug, Default)]
pub(super) struct Writing(VecDeque<(u64, WriteSlot)>);

impl Writing {
    /// `unit` is written in `slot`.
    pub(super) fn push(&mut self, unit: u64, slot: WriteSlot) {
        self.0.push_back((unit, slot));
    }

    /// Does a write of `unit` begin after `at`, so that it takes along what comes now?
    pub(super) fn waits(&self, unit: u64, at: Time) -> bool {
        self.0.iter().any(|(u, slot)| *u == unit && slot.start > at)
    }

    /// When `unit` is on the media (zero: it is not on its way there).
    pub(super) fn done(&self, unit: u64) -> Time {
        let mut slots = self.0.iter().rev().filter(|(u, _)| *u == unit);
        slots.next().map_or(Time::ZERO, |(_, slot)| slot.end)
    }

    /// When `unit` can be read from the media.
    pub(super) fn readable(&self, unit: u64) -> Time {
        let mut slots = self.0.iter().rev().filter(|(u, _)| *u == unit);
        slots.next().map_or(Time::ZERO, |(_, slot)| slot.readable)
    }

    /// Forgets what was on the media before `now`.
    pub(super) fn forget(&mut self, now: Time) {
        while self.0.front().is_some_and(|(_, slot)| slot.end <= now) {
            self.0.pop_front();
        }
    }

    /// When all is on the media.
    pub(super) fn all_done(&self) -> Time {
        let ends = self.0.iter().map(|(_, slot)| slot.end);
        ends.max().unwrap_or(Time::ZERO)
    }
}
