//! What holds of a line: the memory it lives in, its type.

use std::ops::RangeInclusive;

use super::ranges::RangeMap;

/// The value of each line, with the last answers at hand.
#[derive(Clone, Debug)]
pub(crate) struct LineTable<V> {
    default: V,
    values: RangeMap<V>,
    /// By core: the lines around its last, and their value.
    recent: [(u64, u64, V); RECENT],
}

/// Cores share the entries if there are more.
const RECENT: usize = 64;

impl<V: Copy + PartialEq> LineTable<V> {
    /// All lines have `default`.
    pub(crate) fn new(default: V) -> Self {
        Self {
            default,
            values: RangeMap::new(),
            recent: nothing(default),
        }
    }

    /// The value of `line`, asked for by `core`.
    #[inline]
    pub(crate) fn get(&mut self, core: u32, line: u64) -> V {
        if self.values.is_empty() {
            return self.default;
        }
        let recent = &mut self.recent[core as usize % RECENT];
        if line < recent.0 || line > recent.1 {
            let (value, lines) = self.values.around(line);
            *recent = (*lines.start(), *lines.end(), value.unwrap_or(self.default));
        }
        recent.2
    }

    /// The value of `line`, and lines around it that have it, too.
    pub(crate) fn around(&self, line: u64) -> (V, RangeInclusive<u64>) {
        let (value, lines) = self.values.around(line);
        (value.unwrap_or(self.default), lines)
    }

    /// `lines` have `value` from now on; `None`: the default.
    pub(crate) fn set(&mut self, lines: RangeInclusive<u64>, value: Option<V>) {
        match value {
            Some(value) => self.values.set(lines, value),
            None => self.values.clear(lines),
        }
        self.recent = nothing(self.default);
    }
}

/// No lines are at hand.
fn nothing<V: Copy>(value: V) -> [(u64, u64, V); RECENT] {
    [(1, 0, value); RECENT]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_sees_a_change_at_once() {
        let mut table = LineTable::new(0);
        assert_eq!(table.get(0, 5), 0);
        table.set(4..=9, Some(2));
        assert_eq!(table.get(0, 5), 2);
        assert_eq!(table.get(1, 9), 2);
        assert_eq!(table.get(1, 10), 0);
        table.set(6..=7, Some(1));
        assert_eq!(table.get(0, 6), 1);
        assert_eq!(table.get(0, 8), 2);
        table.set(0..=20, None);
        assert_eq!(table.get(1, 8), 0);
    }
}
