//! Which of what waits survives: the worst first, then by chance.

use std::collections::BTreeSet;

use super::fingerprint::mix;
use super::view::View;

/// Of no more ways than this all are tried without looking for the worst.
const FEW_WAYS: u64 = 64;
/// Of more ways than this never all are tried.
const MOST_WAYS: u64 = 1 << 16;

/// Numbers that look like chance, the same for the same seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x5bf0_3635))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Calls `each` with what is kept, the worst first, until it says false: all ways there are, where these
/// are no more than `room`. Returns whether they were all.
pub(super) fn worst(
    view: &View,
    room: u64,
    kept: &mut Vec<bool>,
    mut each: impl FnMut(&[bool]) -> bool,
) -> bool {
    kept.clear();
    kept.resize(view.words.len(), false);
    let ways = (0..view.lines.len()).fold(1u64, |n, line| n.saturating_mul(view.ways(line)));
    if !each(kept) {
        return ways <= 1;
    }
    kept.fill(true);
    if !each(kept) {
        return ways <= 2;
    }
    if ways > FEW_WAYS && !adversarial(view, kept, &mut each) {
        return false;
    }
    ways <= room.min(MOST_WAYS) && all(view, ways, kept, each)
}

fn all(view: &View, ways: u64, kept: &mut [bool], mut each: impl FnMut(&[bool]) -> bool) -> bool {
    for number in 0..ways {
        let mut rest = number;
        for line in 0..view.lines.len() {
            let ways = view.ways(line);
            view.keep_way(line, rest % ways, kept);
            rest /= ways;
        }
        if !each(kept) {
            return false;
        }
    }
    true
}

fn adversarial(view: &View, kept: &mut [bool], mut each: impl FnMut(&[bool]) -> bool) -> bool {
    let lines = view.lines.len();
    let choose = |kept: &mut [bool], which: &dyn Fn(usize) -> bool| {
        for line in 0..lines {
            kept[view.words_of(line)].fill(which(line));
        }
    };
    for odd in 0..2 {
        choose(kept, &|line| line % 2 == odd);
        if !each(kept) {
            return false;
        }
    }
    for alone in 0..lines {
        for keeps in [false, true] {
            choose(kept, &|line| (line == alone) == keeps);
            if !each(kept) {
                return false;
            }
        }
    }
    // Each store torn, all the rest there that may be.
    for store in view.stores.iter().filter(|s| s.words.len() > 1 && !s.whole) {
        for subset in [1, store.subsets() - 2] {
            kept.fill(true);
            store.keep(subset, kept);
            view.close(kept);
            if !each(kept) {
                return false;
            }
        }
    }
    // As far as each store in the order of the program.
    let events: BTreeSet<u32> = view.words.iter().map(|w| w.event).collect();
    for last in events {
        for (kept, word) in kept.iter_mut().zip(&view.words) {
            *kept = word.event <= last;
        }
        view.close(kept);
        if !each(kept) {
            return false;
        }
    }
    true
}

/// What is kept, by chance: mostly all or nothing of a line, sometimes part of it.
pub(super) fn random(view: &View, kept: &mut Vec<bool>, chance: &mut Chance) {
    kept.clear();
    kept.resize(view.words.len(), false);
    let (loses, parts) = (1 + chance.below(7), 1 + chance.below(4));
    for line in view.lines.clone() {
        let stores = &view.stores[line];
        let part = chance.one_in(parts);
        let cached = stores.iter().filter(|s| !s.around).count() as u64;
        let whole = if chance.below(8) < loses { 0 } else { cached };
        let mut left = if part {
            chance.below(cached + 1)
        } else {
            whole
        };
        let mut torn = part && chance.one_in(2);
        for store in stores {
            let subsets = store.subsets();
            if store.around {
                store.keep(chance.below(subsets), kept);
            } else if left > 0 {
                store.keep(subsets - 1, kept);
                left -= 1;
            } else if std::mem::take(&mut torn) {
                store.keep(chance.below(subsets), kept);
                // Only all of it may be followed by more, and nothing more is kept.
            }
        }
    }
}
