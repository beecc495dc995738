//! Where units begin.

use prestore_machine::{CacheLevel, Machine, Scope};
use prestore_sim::{Random, Sampling};

/// How to sample. Lengths are operations, all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Units.
    pub units: u64,
    /// How much of each is measured.
    pub length: u64,
    /// How much before is simulated in detail and not measured.
    pub detail: u64,
    /// How much before that only warms caches and memories; `None`: as much as the machine's caches need.
    pub warm: Option<Warm>,
    /// Chooses where units begin.
    pub seed: u64,
}

/// How much before a unit warms.
pub type Warm = Option<u64>;

/// Operations that warm a line of the largest cache, while it is not known how many bring one: of each there are some to the same
/// line, and not each line is new.
const A_LINE: u64 = 8;

/// Where that is known: until as many lines came as the largest cache has, but at least so many operations for each line of it.
/// Where it would take more than so many, what comes short of it does not help, and it is enough if the others are turned over, if that
/// takes less than [`A_LINE`].
const TURNS_A_LINE: [u64; 2] = [2, 24];

/// So many times as many lines as they have turn caches over that are not the largest: what is used again stays for longer.
const NEARER: u64 = 2;

/// Operations for each line of the largest cache that fill it in most programs, however little warms before units: half as many
/// leave a part of it empty (`docs/sampling.md`).
const FILLS_A_LINE: u64 = 64;

/// The same that warm at most where that has not filled it.
const MOST_A_LINE: u64 = 512;

/// What comes before what is measured of a unit, operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Simulated in detail.
    pub detail: u64,
    /// Warms; `None`: all since the last unit.
    pub warm: Option<u64>,
    /// Where nobody has said how much is to warm, once it is known what turns the largest cache over: that, at least the first of
    /// these, if it is not more than the second.
    pub turns: Option<[u64; 2]>,
    /// As many lines as turn over all caches but the largest.
    pub nearer: u64,
    /// Until so many have warmed, more do.
    pub fill: u64,
    /// Where caches are not full then, more do until so many have.
    pub most: u64,
}

/// Lines of all caches but the largest, of `cores`.
fn nearer(machine: &Machine, cores: u32) -> u64 {
    let lines = |cache: &CacheLevel| {
        let instances = match cache.scope {
            Scope::Shared => 1,
            Scope::Private => cores.into(),
        };
        instances * cache.size.0 / machine.line.0.max(1)
    };
    let largest = machine.caches.iter().max_by_key(|cache| cache.size.0);
    machine.caches.iter().map(lines).sum::<u64>() - largest.map_or(0, lines)
}

/// Lines of the largest cache.
fn largest(machine: &Machine) -> u64 {
    let caches = machine.caches.iter();
    let lines = caches.map(|c| c.size.0 / machine.line.0.max(1));
    lines.max().unwrap_or(0)
}

impl Sample {
    /// As many units and as long as do for most programs.
    pub const DEFAULT: Self = Self {
        units: 30,
        length: 50_000,
        detail: 25_000,
        warm: None,
        seed: 1,
    };

    /// Runs of units side by side, where nothing else keeps the host's other processors busy.
    pub const RUNS: u64 = 2;

    /// How many operations before a unit warm the caches of `machine`; `None`: all since the last one.
    pub fn warms(&self, machine: &Machine) -> Option<u64> {
        self.warm.unwrap_or_else(|| Some(largest(machine) * A_LINE))
    }

    /// What comes before what is measured of each unit, of a run on so many `cores`.
    pub(crate) fn before(&self, machine: &Machine, cores: u32) -> Before {
        let lines = largest(machine);
        Before {
            detail: self.detail,
            warm: self.warms(machine),
            turns: self.warm.is_none().then(|| TURNS_A_LINE.map(|n| n * lines)),
            nearer: nearer(machine, cores) * NEARER,
            fill: lines * FILLS_A_LINE,
            most: lines * MOST_A_LINE,
        }
    }

    /// Of a run of so many operations, and instructions where that is known, on `machine`, in words of results: in so many
    /// `runs`.
    pub fn of(
        &self,
        (operations, instructions): (u64, Option<u64>),
        machine: &Machine,
        runs: usize,
    ) -> Sampling {
        Sampling {
            operations,
            instructions,
            unit: self.length,
            detail: self.detail,
            warm: self.warms(machine),
            seed: self.seed,
            runs: runs as u64,
        }
    }
}

impl Default for Sample {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Where a unit begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What is measured of it.
    pub at: u64,
    /// Operations of the part of the run that it stands for.
    pub stands_for: u64,
    /// One of several that the first of the equal parts has, and not the last of them.
    pub is_of_start: bool,
}

/// Places of units in a run.
#[derive(Clone, Debug)]
pub(crate) struct Units(Vec<Place>);

/// The first of the equal parts is divided once more, into parts that are the longer the later they come: this many of them
/// as long as all before. Programs fill their arrays and read their input at the start, in however long a time, and never again: one
/// unit in all of that part mostly meets none of it, and is sure of what it has met.
const OF_START: u64 = 4;

impl Units {
    /// Those of `sample` in a run of `operations`: one in each of equal parts, at random there, and more at the run's start. Units at one distance
    /// would all meet the same part of a loop that is as long.
    pub fn new(sample: &Sample, operations: u64) -> Self {
        let mut random = Random::new(sample.seed);
        let units = sample.units.max(1);
        let begin =
            |part: u64| (u128::from(operations) * u128::from(part) / u128::from(units)) as u64;
        let start = Self::start(begin(1), (sample.length + sample.detail).max(1));
        let parts = start.windows(2).map(|w| (w[0], w[1]));
        let parts = parts.chain((1..units).map(|part| (begin(part), begin(part + 1))));
        let places = parts.map(|(from, to)| {
            let is_of_start = to < begin(1);
            // What is hardly longer than a unit has it within: else all units of the start would lie late.
            let long = if is_of_start { sample.length } else { 0 };
            Place {
                at: from + random.below((to - from).saturating_sub(long)),
                stands_for: to - from,
                is_of_start,
            }
        });
        Self(places.collect())
    }

    /// Where the parts of what comes before `end` begin, and `end`. None is shorter than a unit that is `long`, and no more are
    /// than two.
    fn start(end: u64, long: u64) -> Vec<u64> {
        let mut begins = vec![end];
        let mut first = end;
        while first >= 2 * long {
            first -= (first / (OF_START + 1)).max(long);
            begins.push(first);
        }
        if first > 0 || begins.len() == 1 {
            begins.push(0);
        }
        begins.reverse();
        begins
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The same in so many parts, one behind the other, as many in each as in others, or one more.
    pub fn parted(&self, parts: usize) -> Vec<Self> {
        let begin = |part: usize| self.0.len() * part / parts;
        let part = |n| Self(self.0[begin(n)..begin(n + 1)].to_vec());
        (0..parts).map(part).collect()
    }

    /// Where what is measured begins, in order.
    pub fn places(&self) -> &[Place] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_each_part_and_elsewhere_with_another_seed() {
        let sample = Sample {
            units: 7,
            ..Sample::DEFAULT
        };
        let places = Units::new(&sample, 1000);
        assert_eq!(places.count(), 7, "the start is shorter than a unit");
        for (part, place) in (0..).zip(places.places()) {
            assert!((part * 1000 / 7..(part + 1) * 1000 / 7).contains(&place.at));
        }
        let other = Sample { seed: 2, ..sample };
        assert_ne!(Units::new(&other, 1000).places(), places.places());
        let none = Units::new(&sample, 0);
        assert!(none.count() == 7 && none.places().iter().all(|p| p.at == 0));
    }

    #[test]
    fn private_caches_are_turned_over_in_each_core() {
        let machine = Machine::find("machine-a").expect("a bundled machine");
        // 32 KiB and 1 MiB a core, beside a shared level of 27.5 MiB.
        let lines = (32 + 1024) * 1024 / 64;
        let before = |cores| Sample::DEFAULT.before(&machine, cores);
        assert_eq!(before(1).nearer, NEARER * lines);
        assert_eq!(before(3).nearer, NEARER * 3 * lines);
        assert!(before(1).turns.is_some());
        let warm = Some(Some(900_000));
        let said = Sample {
            warm,
            ..Sample::DEFAULT
        };
        assert_eq!(said.before(&machine, 1).turns, None, "as it was asked for");
    }

    /// Each part of the start is a fifth of what ends with it, but where that is shorter than a unit.
    #[test]
    fn the_start_has_more_units_the_earlier_the_more() {
        assert_eq!(
            Units::start(10_000, 1000),
            [0, 1096, 2096, 3096, 4096, 5120, 6400, 8000, 10_000]
        );
        assert_eq!(Units::start(1999, 1000), [0, 1999]);
        assert_eq!(Units::start(2000, 1000), [0, 1000, 2000]);
        assert_eq!(Units::start(0, 1000), [0, 0]);
        let units = Units::new(&Sample::DEFAULT, 300_000_000);
        let places = units.places();
        let sum: u64 = places.iter().map(|p| p.stands_for).sum();
        assert_eq!(sum, 300_000_000);
        let of_start = places.iter().filter(|p| p.is_of_start).count() as u64;
        assert_eq!(of_start + Sample::DEFAULT.units, units.count());
        assert!(places.is_sorted_by_key(|p| p.at));
    }

    #[test]
    fn parts_are_the_whole_in_order() {
        let sample = Sample {
            units: 7,
            ..Sample::DEFAULT
        };
        let units = Units::new(&sample, 1000);
        let lengths = [(1, vec![7]), (2, vec![3, 4]), (3, vec![2, 2, 3])];
        for (parts, lengths) in lengths {
            let parted = units.parted(parts);
            let all: Vec<Place> = parted.iter().flat_map(|p| p.0.clone()).collect();
            assert_eq!(all, units.0);
            assert_eq!(
                parted.iter().map(|p| p.0.len()).collect::<Vec<_>>(),
                lengths
            );
        }
    }
}
