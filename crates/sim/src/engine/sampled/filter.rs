//! Accesses that change nothing in the nearest cache.

use prestore_machine::{CacheLevel, Machine};

use crate::ByteMask;

/// Lines remembered at most.
const MOST: u64 = 64;

/// The lines that a core accessed last, one of those that share a set of its nearest cache at most: another access to
/// it finds it where the last one left it, most recently used.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    lines: Vec<(u64, ByteMask)>,
    mask: u64,
}

const NONE: (u64, ByteMask) = (u64::MAX, 0);

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
            lines: vec![NONE; places as usize],
            mask: places - 1,
        }
    }

    /// Forgets all: others may have taken lines away.
    pub fn clear(&mut self) {
        self.lines.fill(NONE);
    }

    /// Was `line` the last of its set?
    #[inline(always)]
    pub fn has(&self, line: u64) -> bool {
        self.lines[(line & self.mask) as usize].0 == line
    }

    /// `line` may no longer be there.
    #[inline]
    pub fn forget(&mut self, line: u64) {
        let place = &mut self.lines[(line & self.mask) as usize];
        if place.0 == line {
            *place = NONE;
        }
    }

    /// `line` is read. Answers whether that changes anything.
    #[inline(always)]
    pub fn read(&mut self, line: u64) -> bool {
        let place = &mut self.lines[(line & self.mask) as usize];
        if place.0 == line {
            return false;
        }
        *place = (line, 0);
        true
    }

    /// `bytes` of `line` are written. Answers whether that changes anything.
    #[inline(always)]
    pub fn write(&mut self, line: u64, bytes: ByteMask) -> bool {
        let place = &mut self.lines[(line & self.mask) as usize];
        if place.0 == line && bytes & !place.1 == 0 {
            return false;
        }
        let before = if place.0 == line { place.1 } else { 0 };
        *place = (line, before | bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_of_a_set_is_known() {
        let machine = Machine::find("machine-a").expect("a bundled machine");
        let mut recent = Recent::new(&machine);
        assert_eq!(recent.lines.len(), 64, "32 KiB, 8 ways of 64 bytes");
        assert!(recent.read(1));
        assert!(!recent.read(1));
        assert!(recent.read(65), "of the same set");
        assert!(recent.read(1));
        assert!(recent.write(1, 0xf), "a first write makes it dirty");
        assert!(!recent.write(1, 0x3));
        assert!(recent.write(1, 0xf0));
        assert!(!recent.write(1, 0xff));
        assert!(!recent.read(1));
        recent.forget(1);
        assert!(recent.read(1));
        recent.clear();
        assert!(recent.read(1));
    }
}
