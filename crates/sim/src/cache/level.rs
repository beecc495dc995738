//! One level: all its instances, their lines, states and replacement.

mod dirty;

use std::cell::Cell;

use prestore_machine::quantity::Clock;
use prestore_machine::{CacheLevel, Inclusion, Scope, WritePolicy};

use super::copy::{Copy, EXCLUSIVE, PENDING, PREFETCHED};
use super::geometry::Index;
use super::replacement::{Policy, Replacer};
use super::signatures::Signatures;
use super::slots::Slots;
use crate::host::{Eights, prefetch};
use crate::random::Random;
use crate::{ByteMask, Time};

/// A way of a set: sets are counted through all instances, and take a power of two of places each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// A line taken out of a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) line: u64,
    pub(super) dirty: ByteMask,
    pub(super) exclusive: bool,
    /// When its data arrives.
    pub(super) ready: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) latency: Time,
    pub(super) inclusion: Inclusion,
    pub(super) through: bool,
    index: Index,
    /// Sets from one core's instance to the next; 0 for a shared level.
    core_sets: usize,
    ways: usize,
    /// Binary logarithm of the places of a set.
    shift: u32,
    signatures: Signatures,
    copies: Eights<Copy>,
    /// Ways in which lines were found last, [`GUESSES`] to a set: most look-ups need no other. In the nearest
    /// level, where the same lines are looked for again and again.
    guesses: Box<[Cell<u8>]>,
    /// Binary logarithm of the sets of a slice, rounded down: lines that share a guess are so far apart.
    apart: u32,
    /// What most accesses need not look at.
    aside: Vec<Aside>,
    /// The upper halves of masks, where lines have more than 64 bytes.
    upper: Vec<u64>,
    whole: ByteMask,
    replacer: Replacer,
    misses: Vec<Slots>,
}

/// What is known of a copy beside its word: when the data of a pending one arrives, in picoseconds, and which bytes of a
/// partial one are dirty (the lower 64). Who comes and goes looks at both, so that they lie together; as an array,
/// so that what is never used takes no memory.
type Aside = [u64; 2];
const READY: usize = 0;
const DIRTY: usize = 1;

/// Lines of a set that do not share a guess.
const GUESSES: usize = 8;

/// The generator of instance `instance` of level `level`: far from the others' on their common cycle.
fn generator(seed: u64, level: usize, instance: usize) -> Random {
    let stream = ((level as u64) << 16) + instance as u64 + 1;
    Random::new(seed.wrapping_add(stream.wrapping_mul(0x6A09_E667_F3BC_C909)))
}

impl Level {
    /// Level number `number` of a machine, its numbers checked.
    pub(super) fn new(
        level: &CacheLevel,
        number: usize,
        line: u64,
        cores: usize,
        clock: Clock,
        seed: u64,
    ) -> Self {
        let shared = level.scope == Scope::Shared;
        let instances = if shared { 1 } else { cores };
        let ways = level.ways as usize;
        let slices = u64::from(level.slices);
        let slice_sets = level.size.0 / line / u64::from(level.ways) / slices;
        let sets = (slice_sets * slices) as usize;
        let stride = ways.next_power_of_two().max(8);
        let lines = instances * sets * stride;
        let random = (0..instances)
            .map(|instance| generator(seed, number, instance))
            .collect();
        Self {
            latency: Time::cycles(level.latency, clock),
            inclusion: level.inclusion,
            through: level.write == WritePolicy::Through,
            index: Index::new(level.hash, slices, slice_sets),
            core_sets: if shared { 0 } else { sets },
            ways,
            shift: stride.trailing_zeros(),
            signatures: Signatures::new(instances * sets, ways, stride),
            copies: Eights::repeat(Copy::default(), lines),
            guesses: match number {
                0 => vec![Cell::new(0); instances * sets * GUESSES].into(),
                _ => Box::default(),
            },
            apart: slice_sets.max(1).ilog2(),
            aside: vec![[0, 0]; lines],
            upper: vec![0; if line > 64 { lines } else { 0 }],
            whole: ByteMask::MAX >> (128 - line),
            replacer: Replacer::new(level.replacement, ways, sets, random),
            misses: vec![Slots::new(level.mshrs); instances],
        }
    }

    /// The first place of the set of `line`.
    #[inline(always)]
    pub(super) fn first(&self, core: u32, line: u64) -> usize {
        (core as usize * self.core_sets + self.index.set(line)) << self.shift
    }

    /// The set of `line` will be looked at soon.
    #[inline]
    pub(super) fn soon(&self, core: u32, line: u64) {
        let first = self.first(core, line);
        self.signatures.soon(first);
        let (mut place, end) = (first, first + (1 << self.shift));
        while place < end {
            self.copies.soon(place);
            place += 8;
        }
        self.replacer.soon(first >> self.shift);
    }

    /// The line that would have to go if `line` were filled now.
    #[inline(always)]
    pub(super) fn likely_victim(&self, core: u32, line: u64) -> Option<u64> {
        let first = self.first(core, line);
        if self.signatures.empty(first, 1 << self.shift).is_some() {
            return None;
        }
        let way = (self.replacer).likely_victim(first >> self.shift, self.ways)?;
        prefetch(&self.aside, first + way);
        Some(self.copies[first + way].line())
    }

    #[inline(always)]
    fn set_and_way(&self, place: Place) -> (usize, usize) {
        (place.0 >> self.shift, place.0 & ((1 << self.shift) - 1))
    }

    /// Where the cache that `core` uses has `line`.
    #[inline(always)]
    pub(super) fn find(&self, core: u32, line: u64) -> Option<Place> {
        self.find_from(self.first(core, line), line)
    }

    /// The same, where the first place of its set is known.
    #[inline(always)]
    pub(super) fn find_from(&self, first: usize, line: u64) -> Option<Place> {
        let holds = |slot: usize| self.copies[slot].is(line);
        self.signatures
            .find(first, 1 << self.shift, line, holds)
            .map(Place)
    }

    /// The same as [`Self::find`], of a line that was probably found before: looks first where that was.
    #[inline(always)]
    pub(super) fn find_again(&self, core: u32, line: u64) -> Option<Place> {
        let first = self.first(core, line);
        let guess = self.guesses.get(self.guess(first, line));
        let slot = first + guess.map_or(0, |way| usize::from(way.get()));
        if self.copies[slot].is(line) {
            return Some(Place(slot));
        }
        self.find_elsewhere(first, line)
    }

    #[inline(never)]
    fn find_elsewhere(&self, first: usize, line: u64) -> Option<Place> {
        let place = self.find_from(first, line)?;
        self.guess_next_time(first, line, place);
        Some(place)
    }

    /// Where the guess for `line` stands, whose set begins at place `first`.
    #[inline(always)]
    fn guess(&self, first: usize, line: u64) -> usize {
        (first >> self.shift) * GUESSES + (line >> self.apart) as usize % GUESSES
    }

    #[inline(always)]
    fn guess_next_time(&self, first: usize, line: u64, place: Place) {
        if let Some(guess) = self.guesses.get(self.guess(first, line)) {
            guess.set((place.0 - first) as u8);
        }
    }

    /// The lines that some instance has.
    pub(super) fn held(&self) -> impl Iterator<Item = u64> {
        let copies = self.copies.iter().filter(|copy| copy.exists());
        copies.map(|copy| copy.line())
    }

    /// How many lines all instances can have.
    pub(super) fn lines(&self) -> u64 {
        (self.aside.len() >> self.shift) as u64 * self.ways as u64
    }

    #[inline(always)]
    pub(super) fn is_exclusive(&self, place: Place) -> bool {
        self.copies[place.0].has(EXCLUSIVE)
    }

    #[inline]
    pub(super) fn set_exclusive(&mut self, place: Place) {
        let at = place.0;
        self.copies[at].set(EXCLUSIVE);
    }

    /// A hit at `at`: notes the use, answers when the data is at the core and whether this is the
    /// first use of a prefetched line.
    #[inline(always)]
    pub(super) fn hit(&mut self, place: Place, at: Time) -> (Time, bool) {
        let (set, way) = self.set_and_way(place);
        self.replacer.hit(set, way, self.ways);
        let slot = place.0;
        let done = at + self.latency;
        if self.copies[slot].has(PENDING | PREFETCHED) {
            return self.first_use(slot, at, done);
        }
        (done, false)
    }

    #[inline(never)]
    fn first_use(&mut self, slot: usize, at: Time, done: Time) -> (Time, bool) {
        let copy = &mut self.copies[slot];
        let prefetched = copy.has(PREFETCHED);
        copy.clear(PREFETCHED);
        let mut done = done;
        if copy.has(PENDING) {
            let ready = Time(self.aside[slot][READY]);
            if ready <= at {
                copy.clear(PENDING);
            }
            done = done.max(ready);
        }
        (done, prefetched)
    }

    /// When the data of a copy is at hand, `at` at the earliest.
    #[inline(always)]
    pub(super) fn ready(&self, place: Place, at: Time) -> Time {
        let slot = place.0;
        if self.copies[slot].has(PENDING) {
            at.max(Time(self.aside[slot][READY]))
        } else {
            at
        }
    }

    /// A write by a core that may write `line` without asking; where it may not, nothing happens.
    #[inline(always)]
    pub(super) fn write_own(&mut self, core: u32, line: u64, bytes: ByteMask) -> Option<Place> {
        let place = self.find_again(core, line)?;
        let copy = self.copies[place.0];
        if !copy.has(EXCLUSIVE) {
            return None;
        }
        let (set, way) = self.set_and_way(place);
        self.replacer.hit(set, way, self.ways);
        if !copy.is_whole() {
            self.add_dirty(place.0, bytes);
        }
        Some(place)
    }

    /// Makes bytes of a copy dirty and notes the use.
    #[inline(always)]
    pub(super) fn write(&mut self, place: Place, bytes: ByteMask) {
        let (set, way) = self.set_and_way(place);
        self.replacer.hit(set, way, self.ways);
        self.add_dirty(place.0, bytes);
    }

    /// Notes a use without asking for data.
    pub(super) fn touch(&mut self, place: Place) {
        let (set, way) = self.set_and_way(place);
        self.replacer.hit(set, way, self.ways);
    }

    /// Removes a copy.
    #[inline]
    pub(super) fn take(&mut self, place: Place) -> Taken {
        let dirty = self.dirty(place);
        let ready = self.ready(place, Time::ZERO);
        let slot = place.0;
        let copy = std::mem::take(&mut self.copies[slot]);
        self.signatures.clear(slot);
        Taken {
            line: copy.line(),
            dirty,
            exclusive: copy.has(EXCLUSIVE),
            ready,
        }
    }

    /// The place that a fill by `core` of the set that begins at `first` will use: the first empty
    /// one, else the victim's (`true`), which is still there.
    #[inline(always)]
    pub(super) fn make_room(&mut self, core: u32, first: usize) -> (Place, bool) {
        if let Some(slot) = self.signatures.empty(first, 1 << self.shift) {
            return (Place(slot), false);
        }
        let way = self.replacer.victim(core, first >> self.shift, self.ways);
        (Place(first + way), true)
    }

    /// Puts a line into an empty way.
    #[inline(always)]
    pub(super) fn put(&mut self, core: u32, place: Place, line: u64, flags: u64, dirty: ByteMask) {
        let slot = place.0;
        self.copies[slot] = Copy::clean(line, flags);
        self.signatures.set(slot, line);
        if dirty != 0 {
            self.add_dirty(slot, dirty);
        }
        let (set, way) = self.set_and_way(place);
        self.guess_next_time(slot - way, line, place);
        self.replacer.fill(core, set, way, self.ways);
    }

    /// The data of a copy arrives at `ready`.
    #[inline]
    pub(super) fn arrives(&mut self, place: Place, ready: Time) {
        let slot = place.0;
        self.copies[slot].set(PENDING);
        self.aside[slot][READY] = ready.0;
    }

    /// A part of a copy's data arrives at `ready`: so late is all of it.
    pub(super) fn delay(&mut self, place: Place, ready: Time) {
        let ready = self.ready(place, ready);
        self.arrives(place, ready);
    }

    /// A prefetcher brought this copy.
    pub(super) fn mark_prefetched(&mut self, place: Place) {
        let slot = place.0;
        self.copies[slot].set(PREFETCHED);
    }

    #[inline]
    fn instance(&self, core: u32) -> usize {
        if self.core_sets == 0 {
            0
        } else {
            core as usize
        }
    }

    /// When, from `at` on, a miss of `core` may start here.
    #[inline]
    pub(super) fn miss_from(&self, core: u32, at: Time) -> Time {
        self.misses[self.instance(core)].free(at)
    }

    /// A miss of `core` is under way until `until`.
    #[inline]
    pub(super) fn miss_until(&mut self, core: u32, until: Time) {
        let instance = self.instance(core);
        self.misses[instance].take(until);
    }
}
