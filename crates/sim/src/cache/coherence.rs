//! What requests do to other cores' copies.

use super::directory::Sharers;
use super::hierarchy::Hierarchy;
use super::leaver::Leaver;
use super::transaction::Transaction;
use crate::doors::{Left, Probe};
use crate::{ByteMask, MemoryPort, Time};

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// When, from `at` on, `core` has got all that is on its way to its copies of `line`.
    fn has_got(&self, core: u32, line: u64, at: Time) -> Time {
        self.levels[..self.privates].iter().fold(at, |got, level| {
            let place = level.find(core, line);
            place.map_or(got, |place| level.ready(place, got))
        })
    }

    /// When, from `at` on, the first of `others` has got `line`, so that it can hand it on; `at`
    /// where there is none.
    pub(super) fn first_has_got(&self, others: Sharers, line: u64, at: Time) -> Time {
        let got = others.each().map(|other| self.has_got(other, line, at));
        got.min().unwrap_or(at)
    }

    /// When, from `at` on, all of `others` have got `line`, so that they can give it up.
    pub(super) fn all_have_got(&self, others: Sharers, line: u64, at: Time) -> Time {
        let got = others.each().map(|other| self.has_got(other, line, at));
        got.max().unwrap_or(at)
    }

    /// When, from `at` on, no core but `core` has `line` any more.
    pub(super) fn given_up(&self, core: u32, line: u64, at: Time) -> Time {
        let others = self.directory.get(line).others(core);
        if others.cores == 0 {
            return at;
        }
        self.all_have_got(others, line, at) + self.snoop
    }

    /// Takes `line` from all private levels of `others`, for `core` at `at`; answers its dirty bytes.
    pub(super) fn invalidate(
        &mut self,
        line: u64,
        others: Sharers,
        (core, at): (u32, Time),
    ) -> ByteMask {
        let mut dirty = 0;
        for other in others.each() {
            for level in 0..self.privates {
                if let Some(place) = self.levels[level].find(other, line) {
                    let taken = self.levels[level].take(place).dirty;
                    self.left(level, other, line, taken, Left::Invalidated(core), at);
                    dirty |= taken;
                }
            }
            self.directory.remove(line, other);
        }
        dirty
    }

    /// `core` will read `line`: another core that had it for its own shares it from now on, its
    /// dirty bytes go to the nearest shared level (or memory), and are there when `core` has them.
    pub(super) fn share(&mut self, tx: &mut Transaction, line: u64, others: Sharers) {
        let core = tx.core;
        if let Some(grants) = &mut self.grants
            && !grants.is_core(line, core)
        {
            grants.remove(line);
        }
        if !others.exclusive {
            return;
        }
        let mut dirty = 0;
        for owner in others.each() {
            for level in 0..self.privates {
                if let Some(place) = self.levels[level].find(owner, line) {
                    let taken = self.levels[level].downgrade(place);
                    self.left(level, owner, line, taken, Left::Downgraded(core), tx.now);
                    self.count_joining(level..self.privates - 1, taken);
                    dirty |= taken;
                }
            }
        }
        self.directory.downgrade(line);
        if dirty != 0 {
            let leaver = Leaver {
                ready: tx.now,
                ..Leaver::at_hand(line, dirty)
            };
            self.deposit(tx, self.privates, leaver, false);
        }
    }
}
