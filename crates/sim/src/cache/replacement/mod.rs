//! The choice of victims: a policy a file, behind one contract; an enum, dispatched by a predictable branch.

mod lru;
mod nru;
mod qlru;
mod random;
mod tree_plru;

use prestore_machine::Replacement;

use self::lru::Lru;
pub(super) use self::lru::{ages, make_youngest, oldest};
use self::nru::Nru;
use self::qlru::Qlru;
use self::random::Drawn;
use self::tree_plru::TreePlru;
use crate::random::Random;

/// The most ways any policy here can follow.
pub(super) const MAX_WAYS: u32 = 32;

/// What one level's policy knows of all sets of all its instances. Sets are counted through all instances.
pub(super) trait Policy {
    /// `set` will be looked at soon: asks the host for it. Changes nothing.
    fn soon(&self, set: usize);

    /// `way` of `set` was hit.
    fn hit(&mut self, set: usize, way: usize, ways: usize);

    /// A line was put into `way` of `set`, by `core`.
    #[inline(always)]
    fn fill(&mut self, core: u32, set: usize, way: usize, ways: usize) {
        let _ = core;
        self.hit(set, way, ways);
    }

    /// The way that [`Self::victim`] would choose now; `None` where that is drawn.
    fn likely_victim(&self, set: usize, ways: usize) -> Option<usize>;

    /// The victim of `set`, all of whose ways hold lines, for a line of `core`.
    fn victim(&mut self, core: u32, set: usize, ways: usize) -> usize;
}

/// Any policy.
#[derive(Clone, Debug)]
pub(super) enum Replacer {
    Lru(Lru),
    TreePlru(TreePlru),
    Qlru(Qlru),
    Random(Drawn),
    Nru(Nru),
}

/// The same call of each.
macro_rules! each {
    ($replacer:expr, $policy:ident => $call:expr) => {
        match $replacer {
            Replacer::Lru($policy) => $call,
            Replacer::TreePlru($policy) => $call,
            Replacer::Qlru($policy) => $call,
            Replacer::Random($policy) => $call,
            Replacer::Nru($policy) => $call,
        }
    };
}

impl Replacer {
    /// For as many caches as there are generators, of `sets` sets of `ways` ways.
    pub(super) fn new(policy: Replacement, ways: usize, sets: usize, random: Vec<Random>) -> Self {
        let all = sets * random.len();
        match policy {
            Replacement::Lru => Self::Lru(Lru::new(ways, all)),
            Replacement::TreePlru => Self::TreePlru(TreePlru::new(ways, all)),
            Replacement::Qlru {
                hit,
                insert,
                distant,
            } => Self::Qlru(Qlru::new(all, (hit, insert), distant.0, random)),
            Replacement::Random => Self::Random(Drawn(random)),
            Replacement::Nru => Self::Nru(Nru::new(all)),
        }
    }
}

impl Policy for Replacer {
    #[inline]
    fn soon(&self, set: usize) {
        each!(self, policy => policy.soon(set));
    }

    #[inline(always)]
    fn hit(&mut self, set: usize, way: usize, ways: usize) {
        each!(self, policy => policy.hit(set, way, ways));
    }

    #[inline(always)]
    fn fill(&mut self, core: u32, set: usize, way: usize, ways: usize) {
        each!(self, policy => policy.fill(core, set, way, ways));
    }

    #[inline(always)]
    fn likely_victim(&self, set: usize, ways: usize) -> Option<usize> {
        each!(self, policy => policy.likely_victim(set, ways))
    }

    #[inline(always)]
    fn victim(&mut self, core: u32, set: usize, ways: usize) -> usize {
        each!(self, policy => policy.victim(core, set, ways))
    }
}

/// The generator of `core`'s cache.
#[inline]
fn own(random: &mut [Random], core: u32) -> &mut Random {
    let last = random.len() - 1;
    &mut random[last.min(core as usize)]
}
