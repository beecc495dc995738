//! The choice of victims: one enum, dispatched by a predictable branch.

use prestore_machine::Replacement;

use crate::host::prefetch;
use crate::random::Random;

/// The state of one level's replacement policy, all sets of all instances.
#[derive(Clone, Debug)]
pub(super) enum Replacer {
    /// A byte a way: how many ways were used since. Sets are padded to whole words, whose spare
    /// bytes hold an age that is never raised.
    Lru { ages: Vec<u64>, words: usize },
    /// A word a set: bit `n` is node `n` of the tree, the root is node 1; set: the victim is right.
    TreePlru {
        trees: Vec<u64>,
        depth: u32,
        /// Of each way, the nodes on its path, and those of them that it is to the left of: they point away.
        paths: Vec<(u64, u64)>,
    },
    /// A word a set, two bits a way.
    Qlru {
        ages: Vec<u64>,
        hit: u64,
        insert: u64,
        /// Share of distant inserts.
        distant: f64,
        random: Vec<Random>,
    },
    /// A generator an instance: a core, or one for all.
    Random { random: Vec<Random> },
    /// A word a set, a bit a way.
    Nru { used: Vec<u64> },
}

/// The most ways any policy here can follow.
pub(super) const MAX_WAYS: u32 = 32;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const PAIRS: u64 = 0x5555_5555_5555_5555;

impl Replacer {
    /// For `instances` caches of `sets` sets of `ways` ways.
    pub(super) fn new(policy: Replacement, ways: usize, sets: usize, random: Vec<Random>) -> Self {
        let all = sets * random.len();
        match policy {
            Replacement::Lru => {
                let set = ages(ways);
                Self::Lru {
                    words: set.len(),
                    ages: set.repeat(all),
                }
            }
            Replacement::TreePlru => Self::TreePlru {
                trees: vec![0; all],
                depth: ways.trailing_zeros(),
                paths: (0..ways)
                    .map(|way| path(way, ways.trailing_zeros()))
                    .collect(),
            },
            Replacement::Qlru {
                hit,
                insert,
                distant,
            } => Self::Qlru {
                ages: vec![0; all],
                hit: u64::from(hit.min(3)),
                insert: u64::from(insert.min(3)),
                distant: distant.0,
                random,
            },
            Replacement::Random => Self::Random { random },
            Replacement::Nru => Self::Nru { used: vec![0; all] },
        }
    }

    /// `set` will be looked at soon.
    #[inline]
    pub(super) fn soon(&self, set: usize) {
        match self {
            Self::Lru { ages, words } => prefetch(ages, set * words),
            Self::TreePlru { trees: sets, .. }
            | Self::Qlru { ages: sets, .. }
            | Self::Nru { used: sets } => prefetch(sets, set),
            Self::Random { .. } => {}
        }
    }

    /// `way` of `set` was hit.
    #[inline(always)]
    pub(super) fn hit(&mut self, set: usize, way: usize, ways: usize) {
        match self {
            Self::Lru { ages, words } => make_youngest(&mut ages[set * *words..][..*words], way),
            Self::TreePlru { trees, paths, .. } => {
                let (nodes, right) = paths[way];
                trees[set] = (trees[set] & !nodes) | right;
            }
            Self::Qlru { ages, hit, .. } => set_age(&mut ages[set], way, *hit),
            Self::Random { .. } => {}
            Self::Nru { used } => mark_used(&mut used[set], way, ways),
        }
    }

    /// A line was put into `way` of `set`, by `core`.
    #[inline(always)]
    pub(super) fn fill(&mut self, core: u32, set: usize, way: usize, ways: usize) {
        match self {
            Self::Qlru {
                ages,
                insert,
                distant,
                random,
                ..
            } => {
                let far = *distant > 0.0 && own(random, core).chance(*distant);
                set_age(&mut ages[set], way, if far { 3 } else { *insert });
            }
            _ => self.hit(set, way, ways),
        }
    }

    /// The way that [`Self::victim`] would choose now; `None` where that is drawn.
    #[inline(always)]
    pub(super) fn likely_victim(&self, set: usize, ways: usize) -> Option<usize> {
        match self {
            Self::Lru { ages, words } => Some(oldest(&ages[set * *words..][..*words], ways)),
            Self::TreePlru { trees, depth, .. } => Some(follow(trees[set], *depth)),
            Self::Qlru { ages, .. } => Some(distant(&mut ages[set].clone(), ways)),
            Self::Random { .. } => None,
            Self::Nru { used } => Some((!used[set]).trailing_zeros() as usize % ways),
        }
    }

    /// The victim of `set`, all of whose ways hold lines.
    #[inline(always)]
    pub(super) fn victim(&mut self, core: u32, set: usize, ways: usize) -> usize {
        match self {
            Self::Lru { ages, words } => oldest(&ages[set * *words..][..*words], ways),
            Self::TreePlru { trees, depth, .. } => follow(trees[set], *depth),
            Self::Qlru { ages, .. } => distant(&mut ages[set], ways),
            Self::Random { random } => own(random, core).below(ways as u64) as usize,
            Self::Nru { used } => (!used[set]).trailing_zeros() as usize % ways,
        }
    }
}

/// The generator of `core`'s cache.
#[inline]
fn own(random: &mut [Random], core: u32) -> &mut Random {
    let last = random.len() - 1;
    &mut random[last.min(core as usize)]
}

/// The ages of a set, a byte a way, before any use. Spare bytes hold an age that is never raised.
pub(super) fn ages(ways: usize) -> Vec<u64> {
    let mut set = vec![0x7F; ways.next_multiple_of(8)];
    for (way, age) in set.iter_mut().enumerate().take(ways) {
        *age = way as u8;
    }
    let words = set.as_chunks::<8>().0.iter();
    words.map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Bytes younger than that of `way` grow older by one; it becomes 0.
#[inline(always)]
pub(super) fn make_youngest(ages: &mut [u64], way: usize) {
    let shift = way % 8 * 8;
    let age = (ages[way / 8] >> shift) & 0xFF;
    if age == 0 {
        return;
    }
    for word in ages.iter_mut() {
        let younger = !((*word | HIGH) - LOW * age) & HIGH;
        *word += younger >> 7;
    }
    ages[way / 8] &= !(0xFF << shift);
}

#[inline]
pub(super) fn oldest(ages: &[u64], ways: usize) -> usize {
    let age = ways as u64 - 1;
    for (n, word) in ages.iter().enumerate() {
        let other = word ^ (LOW * age);
        // Bytes are below 0x80, so that no borrow crosses them.
        let same = !((other | HIGH) - LOW) & HIGH;
        if same != 0 {
            return n * 8 + same.trailing_zeros() as usize / 8;
        }
    }
    0
}

/// The nodes from the root of a tree to `way`, and those of them that `way` is to the left of.
fn path(way: usize, depth: u32) -> (u64, u64) {
    let (mut nodes, mut left) = (0, 0);
    let mut node = 1;
    for level in (0..depth).rev() {
        let right = (way >> level) & 1;
        nodes |= 1 << node;
        left |= ((right ^ 1) as u64) << node;
        node = node * 2 + right;
    }
    (nodes, left)
}

#[inline]
fn follow(tree: u64, depth: u32) -> usize {
    let mut node = 1;
    for _ in 0..depth {
        node = node * 2 + ((tree >> node) & 1) as usize;
    }
    node - (1 << depth)
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

#[inline]
fn mark_used(used: &mut u64, way: usize, ways: usize) {
    *used |= 1 << way;
    if *used == (1 << ways) - 1 {
        *used = 1 << way;
    }
}
