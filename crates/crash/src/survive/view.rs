//! All that waits at one moment, side by side.

use std::ops::Range;

use super::image::Memory;
use super::pending::{Pending, Word};

/// What one store has waiting in a line.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// Its words in [`View::words`].
    pub(super) words: Range<usize>,
    pub(super) around: bool,
    /// Its words survive together.
    pub(super) whole: bool,
}

/// What waits, in the order of lines, and in a line in that of stores.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub(super) words: Vec<Word>,
    pub(super) stores: Vec<Store>,
    /// Of each line its stores in [`View::stores`].
    pub(super) lines: Vec<Range<usize>>,
}

impl View {
    /// Becomes what waits in `pending`, but for what is in `memory` already: whether that survives changes nothing.
    pub(super) fn fill(&mut self, pending: &Pending<'_>, memory: &Memory) {
        self.words.clear();
        self.stores.clear();
        self.lines.clear();
        for line in pending.lines.values() {
            let first = self.stores.len();
            let of_line = self.words.len();
            for store in &line.waiting {
                let at = self.words.len();
                for word in store.words.iter().filter(|w| w.mask != 0) {
                    let over = |w: &Word| w.place == word.place && w.mask & word.mask != 0;
                    if !memory.has(word) || self.words[of_line..].iter().any(over) {
                        self.words.push(*word);
                    }
                }
                if at < self.words.len() {
                    self.stores.push(Store {
                        words: at..self.words.len(),
                        around: store.around,
                        whole: store.whole,
                    });
                }
            }
            if first < self.stores.len() {
                self.lines.push(first..self.stores.len());
            }
        }
    }

    /// All words of a line.
    pub(super) fn words_of(&self, line: usize) -> Range<usize> {
        let stores = &self.stores[self.lines[line].clone()];
        match (stores.first(), stores.last()) {
            (Some(first), Some(last)) => first.words.start..last.words.end,
            _ => 0..0,
        }
    }

    /// Takes out of `kept` what cannot survive without what it lacks.
    pub(super) fn close(&self, kept: &mut [bool]) {
        for line in &self.lines {
            let mut lost = false;
            for store in &self.stores[line.clone()] {
                if store.around {
                    continue;
                }
                let all = kept[store.words.clone()].iter().all(|k| *k);
                if lost || store.whole && !all {
                    kept[store.words.clone()].fill(false);
                }
                lost |= !all;
            }
        }
    }

    /// In how many ways a line may survive.
    pub(super) fn ways(&self, line: usize) -> u64 {
        let (mut cached, mut around) = (1u64, 1u64);
        for store in &self.stores[self.lines[line].clone()] {
            let subsets = store.subsets();
            match store.around {
                true => around = around.saturating_mul(subsets),
                false => cached = cached.saturating_add(subsets - 1),
            }
        }
        cached.saturating_mul(around)
    }

    /// Makes `kept` the `way`-th of [`View::ways`] of a line: 0 none of it.
    pub(super) fn keep_way(&self, line: usize, mut way: u64, kept: &mut [bool]) {
        for store in &self.stores[self.lines[line].clone()] {
            if store.around {
                let subsets = store.subsets();
                store.keep(way % subsets, kept);
                way /= subsets;
            }
        }
        for store in &self.stores[self.lines[line].clone()] {
            if !store.around {
                let most = store.subsets() - 1;
                store.keep(way.min(most), kept);
                way -= way.min(most);
            }
        }
    }
}

impl Store {
    /// In how many ways it may survive: none of it is one.
    pub(super) fn subsets(&self) -> u64 {
        match self.whole {
            true => 2,
            false => 1u64
                .checked_shl(self.words.len() as u32)
                .unwrap_or(u64::MAX),
        }
    }

    /// Keeps those words whose bits are in `subset`.
    pub(super) fn keep(&self, subset: u64, kept: &mut [bool]) {
        for (i, word) in self.words.clone().enumerate() {
            kept[word] = match self.whole {
                true => subset != 0,
                false => subset >> i & 1 == 1,
            };
        }
    }
}
