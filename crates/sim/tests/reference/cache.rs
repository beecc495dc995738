//! One cache: sets of ways that hold copies.

use prestore_machine::{CacheLevel, SliceHash};
use prestore_sim::{ByteMask, Time};

use super::policy::Policy;
use super::random::Draws;

#[derive(Clone, Debug)]
pub struct Copy {
    pub line: u64,
    pub dirty: ByteMask,
    pub exclusive: bool,
    pub prefetched: bool,
    /// When its data arrives; `None`: it is at hand.
    pub ready: Option<Time>,
}

impl Copy {
    pub fn ready(&self, at: Time) -> Time {
        self.ready.map_or(at, |ready| at.max(ready))
    }
}

#[derive(Clone, Debug)]
struct Set {
    ways: Vec<Option<Copy>>,
    policy: Policy,
}

#[derive(Clone, Debug)]
pub struct Cache {
    hash: SliceHash,
    slices: u64,
    slice_sets: u64,
    sets: Vec<Set>,
    draws: Draws,
    /// Times until which its misses are under way.
    pub misses: Option<Vec<Time>>,
}

impl Cache {
    pub fn new(level: &CacheLevel, line: u64, draws: Draws) -> Self {
        let ways = level.ways as usize;
        let slices = u64::from(level.slices);
        let slice_sets = level.size.0 / line / u64::from(level.ways) / slices;
        let set = Set {
            ways: vec![None; ways],
            policy: Policy::new(level.replacement, ways),
        };
        Self {
            hash: level.hash,
            slices,
            slice_sets,
            sets: vec![set; (slices * slice_sets) as usize],
            draws,
            misses: level.mshrs.map(|n| vec![Time::ZERO; n as usize]),
        }
    }

    fn set_of(&self, line: u64) -> usize {
        if self.hash == SliceHash::None {
            return (line % (self.slices * self.slice_sets)) as usize;
        }
        let (low, high) = (line % self.slice_sets, line / self.slice_sets);
        let mut set = low;
        if self.slice_sets.is_power_of_two() && self.slice_sets > 1 {
            let mut rest = high;
            while rest > 0 {
                set ^= rest % self.slice_sets;
                rest /= self.slice_sets;
            }
        }
        let mut start = u128::from(set) * 0x6A09_E667_F3BC_C909 % (1 << 64);
        if self.hash == SliceHash::RegionFold {
            let region = u128::from(high / 4096) * 0xBB67_AE85_84CA_A73B % (1 << 64);
            start = (start ^ region) * 0x6A09_E667_F3BC_C909;
        }
        let sum = u128::from(high) * 0x9E37_79B9_7F4A_7C15 + start % (1 << 64);
        let fraction = (sum % (1 << 64)) >> 32;
        let slice = (fraction * u128::from(self.slices)) >> 32;
        slice as usize * self.slice_sets as usize + set as usize
    }

    pub fn get(&self, line: u64) -> Option<&Copy> {
        let ways = &self.sets[self.set_of(line)].ways;
        ways.iter().flatten().find(|copy| copy.line == line)
    }

    pub fn get_mut(&mut self, line: u64) -> Option<&mut Copy> {
        let set = self.set_of(line);
        let ways = &mut self.sets[set].ways;
        ways.iter_mut().flatten().find(|copy| copy.line == line)
    }

    pub fn has(&self, line: u64) -> bool {
        self.get(line).is_some()
    }

    fn way_of(&self, line: u64) -> Option<(usize, usize)> {
        let set = self.set_of(line);
        let is_it = |copy: &Option<Copy>| copy.as_ref().is_some_and(|copy| copy.line == line);
        Some((set, self.sets[set].ways.iter().position(is_it)?))
    }

    /// The policy sees a use of `line`.
    pub fn touch(&mut self, line: u64) {
        if let Some((set, way)) = self.way_of(line) {
            self.sets[set].policy.hit(way);
        }
    }

    pub fn take(&mut self, line: u64) -> Option<Copy> {
        let (set, way) = self.way_of(line)?;
        self.sets[set].ways[way].take()
    }

    /// The line that has to go before `line` can be put in.
    pub fn victim_for(&mut self, line: u64) -> Option<(usize, Option<u64>)> {
        let at = self.set_of(line);
        let set = &mut self.sets[at];
        if let Some(way) = set.ways.iter().position(Option::is_none) {
            return Some((way, None));
        }
        let way = set.policy.victim(&mut self.draws);
        let victim = set.ways[way].as_ref()?.line;
        Some((way, Some(victim)))
    }

    pub fn put(&mut self, way: usize, copy: Copy) {
        let at = self.set_of(copy.line);
        self.sets[at].ways[way] = Some(copy);
        self.sets[at].policy.fill(way, &mut self.draws);
    }
}
