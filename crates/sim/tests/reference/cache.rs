//! One instance of a level: its sets, and which copies are in them.

use prestore_machine::{CacheLevel, SliceHash};
use prestore_sim::{ByteMask, Time};

use super::policy::{Policy, SplitMix};

/// A copy of a line.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    pub line: u64,
    pub dirty: ByteMask,
    /// May its core write it?
    pub exclusive: bool,
    /// Has a prefetcher fetched it, and has nobody asked for it since?
    pub prefetched: bool,
    /// When its data arrives; zero: it is at hand for good.
    pub arrives: Time,
}

#[derive(Clone, Debug)]
struct Set {
    ways: Vec<Option<Copy>>,
    policy: Policy,
}

/// A cache.
#[derive(Clone, Debug)]
pub struct Cache {
    sets: Vec<Set>,
    slices: u64,
    hash: SliceHash,
    random: SplitMix,
}

impl Cache {
    pub fn new(level: &CacheLevel, line: u64, random: SplitMix) -> Self {
        let sets = level.size.0 / line / u64::from(level.ways);
        let set = Set {
            ways: vec![None; level.ways as usize],
            policy: Policy::new(level.replacement, level.ways as usize),
        };
        Self {
            sets: vec![set; sets as usize],
            slices: u64::from(level.slices),
            hash: level.hash,
            random,
        }
    }

    /// The set of a line, counted slice by slice.
    fn set_of(&self, line: u64) -> usize {
        let all = self.sets.len() as u64;
        if self.hash == SliceHash::None {
            return (line % all) as usize;
        }
        let sets = all / self.slices;
        let high = line / sets;
        let set = if sets.is_power_of_two() {
            folded(line, sets)
        } else {
            line % sets
        };
        let mut of_set = set.wrapping_mul(0x6A09_E667_F3BC_C909);
        if self.hash == SliceHash::RegionFold {
            of_set ^= (high / 4096).wrapping_mul(0xBB67_AE85_84CA_A73B);
            of_set = of_set.wrapping_mul(0x6A09_E667_F3BC_C909);
        }
        let sum = high
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(of_set);
        let slice = ((sum >> 32) * self.slices) >> 32;
        (slice * sets + set) as usize
    }

    fn way_of(&self, line: u64) -> Option<(usize, usize)> {
        let set = self.set_of(line);
        let ways = &self.sets[set].ways;
        let way = ways
            .iter()
            .position(|copy| copy.is_some_and(|copy| copy.line == line))?;
        Some((set, way))
    }

    pub fn find(&self, line: u64) -> Option<&Copy> {
        let (set, way) = self.way_of(line)?;
        self.sets[set].ways[way].as_ref()
    }

    pub fn find_mut(&mut self, line: u64) -> Option<&mut Copy> {
        let (set, way) = self.way_of(line)?;
        self.sets[set].ways[way].as_mut()
    }

    /// The policy sees a hit of `line`, if it is here.
    pub fn note_use(&mut self, line: u64) {
        if let Some((set, way)) = self.way_of(line) {
            self.sets[set].policy.hit(way);
        }
    }

    /// Its way is empty then; what the policy knows of the way stays.
    pub fn take(&mut self, line: u64) -> Option<Copy> {
        let (set, way) = self.way_of(line)?;
        self.sets[set].ways[way].take()
    }

    /// Room for `line`: the way it will have, and who had to leave it.
    pub fn make_room(&mut self, line: u64) -> (Room, Option<Copy>) {
        let number = self.set_of(line);
        let set = &mut self.sets[number];
        let distant = set.policy.draws_distant(&mut self.random);
        let empty = set.ways.iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| set.policy.victim(&mut self.random));
        let room = Room {
            set: number,
            way,
            distant,
        };
        (room, set.ways[way].take())
    }

    pub fn put(&mut self, room: Room, copy: Copy) {
        let set = &mut self.sets[room.set];
        set.ways[room.way] = Some(copy);
        set.policy.filled(room.way, room.distant);
    }
}

/// Where a line will be put.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    set: usize,
    way: usize,
    distant: bool,
}

/// All groups of as many bits as choose one of `sets`, exclusively or-ed.
fn folded(line: u64, sets: u64) -> u64 {
    let bits = sets.trailing_zeros();
    if bits == 0 {
        return 0;
    }
    let (mut rest, mut set) = (line, 0);
    while rest != 0 {
        set ^= rest % sets;
        rest >>= bits;
    }
    set
}
