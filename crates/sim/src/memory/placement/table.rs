//! Which memory a line lives in.

use std::ops::RangeInclusive;

use super::ranges::RangeMap;

/// The memory of each line, with the last answers at hand.
#[derive(Clone, Debug)]
pub(crate) struct PlaceTable {
    default: u8,
    places: RangeMap<u8>,
    /// By core: the lines around its last, and their memory.
    recent: [(u64, u64, u8); RECENT],
}

/// Cores share the entries if there are more.
const RECENT: usize = 64;
/// An empty range of lines.
const NOTHING: (u64, u64, u8) = (1, 0, 0);

impl PlaceTable {
    /// All lines live in memory `default`.
    pub(crate) fn new(default: u8) -> Self {
        Self {
            default,
            places: RangeMap::new(),
            recent: [NOTHING; RECENT],
        }
    }

    /// The memory of `line`, asked for by `core`.
    #[inline]
    pub(crate) fn memory(&mut self, core: u32, line: u64) -> u8 {
        if self.places.is_empty() {
            return self.default;
        }
        let recent = &mut self.recent[core as usize % RECENT];
        if line < recent.0 || line > recent.1 {
            let (memory, lines) = self.places.around(line);
            *recent = (*lines.start(), *lines.end(), memory.unwrap_or(self.default));
        }
        recent.2
    }

    /// The memory of `line`, and lines around it that live there, too.
    pub(crate) fn around(&self, line: u64) -> (u8, RangeInclusive<u64>) {
        let (memory, lines) = self.places.around(line);
        (memory.unwrap_or(self.default), lines)
    }

    /// `lines` live in `memory` from now on.
    pub(crate) fn place(&mut self, lines: RangeInclusive<u64>, memory: u8) {
        self.places.set(lines, memory);
        self.recent = [NOTHING; RECENT];
    }

    /// `lines` live in the default memory from now on.
    pub(crate) fn unplace(&mut self, lines: RangeInclusive<u64>) {
        self.places.clear(lines);
        self.recent = [NOTHING; RECENT];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_sees_a_change_at_once() {
        let mut table = PlaceTable::new(0);
        assert_eq!(table.memory(0, 5), 0);
        table.place(4..=9, 2);
        assert_eq!(table.memory(0, 5), 2);
        assert_eq!(table.memory(1, 9), 2);
        assert_eq!(table.memory(1, 10), 0);
        table.place(6..=7, 1);
        assert_eq!(table.memory(0, 6), 1);
        assert_eq!(table.memory(0, 8), 2);
        table.unplace(0..=20);
        assert_eq!(table.memory(1, 8), 0);
    }
}
