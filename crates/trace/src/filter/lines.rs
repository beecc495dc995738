//! Which lines the chosen functions have written.

use rustc_hash::FxHashMap;

use crate::LineAddr;

/// log2 of the bytes of a line, the unit in which "the same data" is meant.
const LINE_SHIFT: u32 = 6;

/// A set of lines: a bit each, in words of 64 neighbouring lines. Memory: 16 bytes or so for each
/// 4 KB of address space with a line in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    groups: FxHashMap<u64, u64>,
}

impl Lines {
    pub(super) fn add(&mut self, addr: u64, size: u64) {
        let (first, last) = LineAddr::span(addr, size, LINE_SHIFT);
        for line in first.0..=last.0 {
            *self.groups.entry(line / 64).or_default() |= 1 << (line % 64);
        }
    }

    pub(super) fn touches(&self, addr: u64, size: u64) -> bool {
        let (first, last) = LineAddr::span(addr, size, LINE_SHIFT);
        let has = |line: u64| {
            let group = self.groups.get(&(line / 64));
            group.is_some_and(|bits| bits >> (line % 64) & 1 == 1)
        };
        (first.0..=last.0).any(has)
    }
}
