//! Victims are drawn.

use super::{Policy, own};
use crate::random::Random;

/// A generator an instance: a core, or one for all.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Drawn(pub(super) Vec<Random>);

impl Policy for Drawn {
    #[inline(always)]
    fn soon(&self, _: usize) {}

    #[inline(always)]
    fn hit(&mut self, _: usize, _: usize, _: usize) {}

    #[inline(always)]
    fn likely_victim(&self, _: usize, _: usize) -> Option<usize> {
        None
    }

    #[inline(always)]
    fn victim(&mut self, core: u32, _: usize, ways: usize) -> usize {
        own(&mut self.0, core).below(ways as u64) as usize
    }
}
