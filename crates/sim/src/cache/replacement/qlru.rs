//! Quad-age LRU: two bits of age a way.

use super::{Policy, own};
use crate::host::prefetch;
use crate::random::Random;

const PAIRS: u64 = 0x5555_5555_5555_5555;

/// A word a set, two bits a way.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Qlru {
    ages: Vec<u64>,
    hit: u64,
    insert: u64,
    /// Share of distant inserts.
    distant: f64,
    random: Vec<Random>,
}

impl Qlru {
    /// Of `sets` sets. A hit makes a line `hit` old; one that comes is `insert` old, or as old as can be in a share
    /// `distant` of all cases.
    pub(super) fn new(
        sets: usize,
        (hit, insert): (u8, u8),
        distant: f64,
        random: Vec<Random>,
    ) -> Self {
        Self {
            ages: vec![0; sets],
            hit: u64::from(hit.min(3)),
            insert: u64::from(insert.min(3)),
            distant,
            random,
        }
    }
}

impl Policy for Qlru {
    #[inline(always)]
    fn soon(&self, set: usize) {
        prefetch(&self.ages, set);
    }

    #[inline(always)]
    fn hit(&mut self, set: usize, way: usize, _: usize) {
        set_age(&mut self.ages[set], way, self.hit);
    }

    #[inline(always)]
    fn fill(&mut self, core: u32, set: usize, way: usize, _: usize) {
        let far = self.distant > 0.0 && own(&mut self.random, core).chance(self.distant);
        set_age(&mut self.ages[set], way, if far { 3 } else { self.insert });
    }

    #[inline(always)]
    fn likely_victim(&self, set: usize, ways: usize) -> Option<usize> {
        Some(distant(&mut self.ages[set].clone(), ways))
    }

    #[inline(always)]
    fn victim(&mut self, _: u32, set: usize, ways: usize) -> usize {
        distant(&mut self.ages[set], ways)
    }
}

#[inline]
fn set_age(ages: &mut u64, way: usize, age: u64) {
    *ages = (*ages & !(3 << (way * 2))) | (age << (way * 2));
}

/// The first way of age 3, after raising all ages until there is one.
#[inline]
fn distant(ages: &mut u64, ways: usize) -> usize {
    let pairs = PAIRS >> (64 - 2 * ways);
    let oldest = *ages & (*ages >> 1) & pairs;
    if oldest != 0 {
        return oldest.trailing_zeros() as usize / 2;
    }
    let raise = if *ages & (pairs << 1) != 0 {
        1
    } else if *ages & pairs != 0 {
        2
    } else {
        3
    };
    *ages += pairs * raise;
    (*ages & (*ages >> 1) & pairs).trailing_zeros() as usize / 2
}
