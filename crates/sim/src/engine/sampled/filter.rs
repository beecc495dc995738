//! Accesses that change nothing in the nearest cache but which line of a set was used last, and which of its bytes are dirty.

use prestore_machine::{CacheLevel, Machine};

use crate::ByteMask;

/// Places for lines at most.
const MOST: u64 = 64;
/// Lines that are remembered at a place: as many streams a loop may have that lie alike in their pages.
const LINES: usize = 4;

/// The lines of some sets of the nearest cache that a core accessed last: another access to one of them finds it there, and another
/// write finds it owned. Only the order of their uses changes, and their dirty bytes; that is told to the cache when it is
/// asked for another line.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    places: Vec<Place>,
    mask: u64,
}

/// A use of a line, and the bytes of it that were written, that the cache has not been told of.
pub(super) type Use = (u64, ByteMask);

/// Lines of one set, or of some, the one accessed last first, which bytes of each were written, and of which of these the cache
/// knows.
#[derive(Clone, Copy, Debug)]
struct Place {
    lines: [u64; LINES],
    written: [ByteMask; LINES],
    told: [ByteMask; LINES],
    /// Of so many of the first the cache is to be told something; 0: of none.
    untold: usize,
}

const NONE: Place = Place {
    lines: [u64::MAX; LINES],
    written: [0; LINES],
    told: [0; LINES],
    untold: 0,
};

impl Place {
    /// Tells the cache, by `again`, of the lines from number `first` on, in the order of their uses.
    #[inline]
    fn settle(&mut self, first: usize, mut again: impl FnMut(Use)) {
        for at in (first..std::mem::take(&mut self.untold)).rev() {
            again((self.lines[at], self.written[at] & !self.told[at]));
            self.told[at] = self.written[at];
        }
    }

    /// `line` is used; false: it is not known.
    #[inline(always)]
    fn uses(&mut self, line: u64) -> bool {
        if self.lines[0] == line {
            return true;
        }
        let Some(at) = self.lines.iter().position(|&known| known == line) else {
            return false;
        };
        self.lines[..=at].rotate_right(1);
        self.written[..=at].rotate_right(1);
        self.told[..=at].rotate_right(1);
        self.untold = self.untold.max(at + 1);
        true
    }

    /// `line` comes first, of which `bytes` are written; the oldest is forgotten.
    #[inline]
    fn put(&mut self, line: u64, bytes: ByteMask, again: impl FnMut(Use)) {
        self.settle(0, again);
        self.lines.rotate_right(1);
        self.written.rotate_right(1);
        self.told.rotate_right(1);
        (self.lines[0], self.written[0], self.told[0]) = (line, bytes, bytes);
    }
}

impl Recent {
    /// For the nearest cache of `machine`.
    pub fn new(machine: &Machine) -> Self {
        let sets = |cache: &CacheLevel| {
            cache.size.0
                / (u64::from(cache.ways) * u64::from(cache.slices.max(1)) * machine.line.0).max(1)
        };
        let sets = machine.caches.first().map_or(1, sets).max(1);
        // Lines of one set must share a place: a power of two that divides the number of sets.
        let places = (1 << sets.trailing_zeros().min(63)).min(MOST);
        Self {
            places: vec![NONE; places as usize],
            mask: places - 1,
        }
    }

    #[inline(always)]
    fn place(&mut self, line: u64) -> &mut Place {
        &mut self.places[(line & self.mask) as usize]
    }

    /// Forgets all: others may take lines away. `again` tells the cache of uses.
    pub fn clear(&mut self, mut again: impl FnMut(Use)) {
        for place in &mut self.places {
            place.settle(0, &mut again);
            *place = NONE;
        }
    }

    /// `line` may no longer be there.
    #[inline]
    pub fn forget(&mut self, line: u64, again: impl FnMut(Use)) {
        let place = self.place(line);
        if place.lines.contains(&line) {
            place.settle(0, again);
            *place = NONE;
        }
    }

    /// `line` is read. Answers whether the cache has to be asked for it; it is told of others' uses by `again`.
    #[inline(always)]
    pub fn read(&mut self, line: u64, again: impl FnMut(Use)) -> bool {
        let place = self.place(line);
        if place.uses(line) {
            return false;
        }
        place.put(line, 0, again);
        true
    }

    /// `bytes` of `line` are written. Answers whether the cache has to be asked.
    #[inline(always)]
    pub fn write(&mut self, line: u64, bytes: ByteMask, again: impl FnMut(Use)) -> bool {
        let place = self.place(line);
        if !place.uses(line) {
            place.put(line, bytes, again);
            return true;
        }
        if place.written[0] != 0 {
            place.written[0] |= bytes;
            place.untold = place.untold.max(1);
            return false;
        }
        // What follows uses the line itself.
        place.settle(1, again);
        (place.written[0], place.told[0]) = (bytes, bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn recent() -> Recent {
        let machine = Machine::find("machine-a").expect("a bundled machine");
        Recent::new(&machine)
    }

    #[test]
    fn a_few_lines_of_a_set_are_known() {
        let mut recent = recent();
        assert_eq!(recent.places.len(), 64, "32 KiB, 8 ways of 64 bytes");
        let mut told = Vec::new();
        assert!(recent.read(1, |_| {}));
        assert!(!recent.read(1, |_| {}));
        assert!(recent.read(65, |_| {}), "of the same set");
        assert!(!recent.read(1, |_| {}));
        assert!(!recent.read(65, |_| {}));
        assert!(recent.write(1, 0xf, |u| told.push(u)), "who owns it");
        assert_eq!(told, [(65, 0)], "which was used before line 1 is now");
        told.clear();
        assert!(!recent.write(1, 0x3, |_| {}));
        assert!(!recent.write(1, 0xf0, |_| {}));
        assert!(!recent.read(65, |_| {}));
        recent.forget(1, |u| told.push(u));
        assert_eq!(told, [(1, 0xf0), (65, 0)]);
        assert!(recent.read(1, |_| {}));
        recent.clear(|_| {});
        assert!(recent.read(1, |_| {}));
    }

    /// Each line once, by its last use, and all bytes written of it.
    fn last(uses: &[Use]) -> Vec<Use> {
        let is_last = |(at, u): (usize, &Use)| !uses[at + 1..].iter().any(|later| later.0 == u.0);
        let each = uses.iter().enumerate().filter(|&u| is_last(u));
        let written = |line| {
            let of = uses.iter().filter(|u| u.0 == line);
            of.fold(0, |bytes, u| bytes | u.1)
        };
        each.map(|(_, u)| (u.0, written(u.0))).collect()
    }

    #[test]
    fn the_cache_is_told_of_uses_in_their_order_and_of_all_bytes() {
        let mut random = Random::new(7);
        for _ in 0..500 {
            let (mut recent, mut told, mut uses) = (recent(), Vec::new(), Vec::new());
            for _ in 0..random.below(40) + 1 {
                let line = 64 * random.below(7);
                let bytes = match random.below(2) {
                    0 => 0,
                    _ => 1 << random.below(3),
                };
                let asks = match bytes {
                    0 => recent.read(line, |u| told.push(u)),
                    bytes => recent.write(line, bytes, |u| told.push(u)),
                };
                if asks {
                    told.push((line, bytes));
                }
                uses.push((line, bytes));
            }
            recent.clear(|u| told.push(u));
            assert_eq!(last(&told), last(&uses));
        }
    }
}
