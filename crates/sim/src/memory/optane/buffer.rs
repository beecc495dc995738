//! The write-combining buffer (XPBuffer): units of which some lines are waiting for the rest.

use super::lines::Lines;
use super::presence::Presence;
use crate::Time;
use crate::random::Random;

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its lines that are not on the media yet.
    pub lines: Lines,
    /// When the unit was accessed last.
    pub touched: Time,
    /// Since when the unit is whole, or was copied to the media last.
    pub ahead_since: Time,
    /// It is whole, and the next unit of its block was written since.
    pub closed: bool,
    /// Order of allocation.
    order: u64,
}

/// The buffer: one entry a unit.
#[derive(Debug)]
pub(super) struct CombiningBuffer {
    units: Vec<u64>,
    known: Presence,
    entries: Vec<Entry>,
    capacity: usize,
    /// Lines of a unit.
    lines: u32,
    allocated: u64,
    random_share: f64,
    random: Random,
}

impl CombiningBuffer {
    /// A buffer of `capacity` units of `lines` lines that evicts a random one in `random_share` of the cases, else
    /// the oldest.
    pub(super) fn new(capacity: u64, lines: u32, random_share: f64, seed: u64) -> Self {
        let capacity = capacity.max(1) as usize;
        Self {
            units: Vec::with_capacity(capacity),
            known: Presence::new(),
            entries: Vec::with_capacity(capacity),
            capacity,
            lines,
            allocated: 0,
            random_share,
            random: Random::new(seed),
        }
    }

    /// The entry of `unit`.
    pub(super) fn get(&mut self, unit: u64) -> Option<&mut Entry> {
        let i = self.position(unit)?;
        Some(&mut self.entries[i])
    }

    #[inline]
    fn position(&self, unit: u64) -> Option<usize> {
        if !self.known.may_have(unit) {
            return None;
        }
        self.units.iter().position(|&u| u == unit)
    }

    /// Is there no room for another unit?
    pub(super) fn full(&self) -> bool {
        self.units.len() >= self.capacity
    }

    /// Puts a unit in that has no entry.
    pub(super) fn insert(&mut self, unit: u64, lines: Lines, at: Time) {
        self.allocated += 1;
        self.units.push(unit);
        self.known.add(unit);
        self.entries.push(Entry {
            lines,
            touched: at,
            ahead_since: at,
            closed: false,
            order: self.allocated,
        });
    }

    /// Takes `unit` out.
    pub(super) fn remove(&mut self, unit: u64) -> Option<Entry> {
        let i = self.position(unit)?;
        Some(self.take(i).1)
    }

    fn take(&mut self, i: usize) -> (u64, Entry) {
        let unit = self.units.swap_remove(i);
        self.known.remove(unit);
        (unit, self.entries.swap_remove(i))
    }

    /// Takes the unit out that the policy chooses: the oldest whole one, for there is nothing to wait
    /// for; else a partial one.
    pub(super) fn evict(&mut self) -> Option<(u64, Entry)> {
        let whole = (0..self.entries.len()).filter(|&i| self.entries[i].lines.complete(self.lines));
        let i = match whole.min_by_key(|&i| self.entries[i].order) {
            Some(i) => i,
            None if self.random.chance(self.random_share) => {
                self.random.below(self.units.len() as u64) as usize
            }
            None => (0..self.entries.len()).min_by_key(|&i| self.entries[i].order)?,
        };
        if i >= self.units.len() {
            return None;
        }
        Some(self.take(i))
    }
}
