//! One instance of a level: sets of ways.

use prestore_machine::{CacheLevel, SliceHash};
use prestore_sim::{ByteMask, Random, Time};

use super::policy::Policy;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const ROOT_2: u64 = 0x6A09_E667_F3BC_C909;
const ROOT_3: u64 = 0xBB67_AE85_84CA_A73B;

/// A line in a cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copy {
    pub dirty: ByteMask,
    pub exclusive: bool,
    pub prefetched: bool,
    /// When its data is there; zero: at hand for good.
    pub arrives: Time,
}

pub struct Cache {
    hash: SliceHash,
    slices: u64,
    /// In a slice.
    sets: u64,
    ways: Vec<Vec<Option<(u64, Copy)>>>,
    policies: Vec<Policy>,
    random: Random,
}

impl Cache {
    pub fn new(level: &CacheLevel, number: u64, instance: u64, line: u64, seed: u64) -> Self {
        let all = level.size.0 / line / u64::from(level.ways);
        let ways = level.ways as usize;
        let own = ((number << 16) + instance + 1).wrapping_mul(ROOT_2);
        Self {
            hash: level.hash,
            slices: u64::from(level.slices),
            sets: all / u64::from(level.slices),
            ways: vec![vec![None; ways]; all as usize],
            policies: vec![Policy::new(level.replacement, ways); all as usize],
            random: Random::new(seed.wrapping_add(own)),
        }
    }

    fn set(&self, line: u64) -> usize {
        if self.hash == SliceHash::None {
            return (line % (self.sets * self.slices)) as usize;
        }
        let (low, high) = (line % self.sets, line / self.sets);
        let mut set = low;
        if self.sets.is_power_of_two() {
            let bits = self.sets.trailing_zeros();
            let mut rest = high;
            while bits > 0 && rest > 0 {
                set ^= rest % self.sets;
                rest >>= bits;
            }
        }
        let mut second = set.wrapping_mul(ROOT_2);
        if self.hash == SliceHash::RegionFold {
            second = (second ^ (high / 4096).wrapping_mul(ROOT_3)).wrapping_mul(ROOT_2);
        }
        let sum = high.wrapping_mul(GOLDEN).wrapping_add(second);
        let slice = (self.slices * (sum >> 32)) >> 32;
        (slice * self.sets + set) as usize
    }

    fn way(&self, line: u64) -> Option<usize> {
        let is_it = |way: &Option<(u64, Copy)>| way.is_some_and(|(other, _)| other == line);
        self.ways[self.set(line)].iter().position(is_it)
    }

    pub fn get(&self, line: u64) -> Option<Copy> {
        let way = self.way(line)?;
        self.ways[self.set(line)][way].map(|(_, copy)| copy)
    }

    pub fn get_mut(&mut self, line: u64) -> Option<&mut Copy> {
        let (set, way) = (self.set(line), self.way(line)?);
        self.ways[set][way].as_mut().map(|(_, copy)| copy)
    }

    /// The policy sees a use of the line.
    pub fn touch(&mut self, line: u64) {
        if let Some(way) = self.way(line) {
            let set = self.set(line);
            self.policies[set].used(way);
        }
    }

    pub fn remove(&mut self, line: u64) -> Option<Copy> {
        let (set, way) = (self.set(line), self.way(line)?);
        self.ways[set][way].take().map(|(_, copy)| copy)
    }

    /// A fill of `line` begins: its way, whether it is a distant one, and who left that way.
    pub fn make_room(&mut self, line: u64) -> (usize, bool, Option<(u64, Copy)>) {
        let set = self.set(line);
        let is_distant = self.policies[set].is_distant(&mut self.random);
        let way = match self.ways[set].iter().position(Option::is_none) {
            Some(way) => way,
            None => self.policies[set].victim(&mut self.random),
        };
        (way, is_distant, self.ways[set][way].take())
    }

    pub fn place(&mut self, way: usize, is_distant: bool, line: u64, copy: Copy) {
        let set = self.set(line);
        self.ways[set][way] = Some((line, copy));
        self.policies[set].filled(way, is_distant);
    }
}
