//! Which bytes of a level's copies are dirty.

use super::{DIRTY, EXCLUSIVE, Level, Place};
use crate::ByteMask;

impl Level {
    #[inline(always)]
    pub(super) fn add_dirty(&mut self, slot: usize, bytes: ByteMask) {
        let copy = self.copies[slot];
        if copy.is_whole() {
            return;
        }
        let mut mask = bytes;
        if copy.is_partial() {
            mask |= self.mask(slot);
        }
        if mask == self.whole {
            self.copies[slot].set_whole();
        } else {
            self.copies[slot].set_partial();
            self.set_mask(slot, mask);
        }
    }

    #[inline]
    fn mask(&self, slot: usize) -> ByteMask {
        let upper = self.upper.get(slot).copied().unwrap_or(0);
        ByteMask::from(self.aside[slot][DIRTY]) | (ByteMask::from(upper) << 64)
    }

    #[inline]
    fn set_mask(&mut self, slot: usize, mask: ByteMask) {
        self.aside[slot][DIRTY] = mask as u64;
        if let Some(upper) = self.upper.get_mut(slot) {
            *upper = (mask >> 64) as u64;
        }
    }

    /// The dirty bytes of a copy.
    #[inline]
    pub(in crate::cache) fn dirty(&self, place: Place) -> ByteMask {
        let slot = place.0;
        let copy = self.copies[slot];
        if copy.is_whole() {
            self.whole
        } else if copy.is_partial() {
            self.mask(slot)
        } else {
            0
        }
    }

    /// Makes a copy clean; answers which bytes were dirty.
    pub(in crate::cache) fn clean(&mut self, place: Place) -> ByteMask {
        let dirty = self.dirty(place);
        let slot = place.0;
        self.copies[slot].set_clean();
        dirty
    }

    /// Takes the permission to write away and makes the copy clean; answers the dirty bytes.
    pub(in crate::cache) fn downgrade(&mut self, place: Place) -> ByteMask {
        let slot = place.0;
        self.copies[slot].clear(EXCLUSIVE);
        self.clean(place)
    }
}
