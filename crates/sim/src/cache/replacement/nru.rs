//! Not recently used: a bit a way.

use super::Policy;
use crate::host::prefetch;

/// A word a set, a bit a way.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Nru(Vec<u64>);

impl Nru {
    /// Of `sets` sets.
    pub(super) fn new(sets: usize) -> Self {
        Self(vec![0; sets])
    }
}

impl Policy for Nru {
    #[inline(always)]
    fn soon(&self, set: usize) {
        prefetch(&self.0, set);
    }

    #[inline(always)]
    fn hit(&mut self, set: usize, way: usize, ways: usize) {
        mark_used(&mut self.0[set], way, ways);
    }

    #[inline(always)]
    fn likely_victim(&self, set: usize, ways: usize) -> Option<usize> {
        Some((!self.0[set]).trailing_zeros() as usize % ways)
    }

    #[inline(always)]
    fn victim(&mut self, _: u32, set: usize, ways: usize) -> usize {
        (!self.0[set]).trailing_zeros() as usize % ways
    }
}

#[inline]
fn mark_used(used: &mut u64, way: usize, ways: usize) {
    *used |= 1 << way;
    if *used == (1 << ways) - 1 {
        *used = 1 << way;
    }
}
