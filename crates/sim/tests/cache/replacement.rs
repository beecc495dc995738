//! Which line goes, by each policy.

use prestore_machine::Replacement;
use prestore_machine::quantity::Share;
use prestore_sim::{Below, Hierarchy, Time};
use prestore_trace::LineAddr;

use crate::machine::machine;
use crate::memory::Log;
use crate::near;

/// Loads `lines` into one set of four ways; answers which of them are there afterwards.
fn left(replacement: Replacement, seed: u64, lines: &[u64]) -> Vec<u64> {
    let mut level = near(4);
    level.replacement = replacement;
    let mut caches = Hierarchy::new(&machine(1, vec![level]), Log::default(), seed).unwrap();
    for &line in lines {
        caches.load(0, Time::ZERO, LineAddr(line));
    }
    let mut left = lines.to_vec();
    left.retain(|&line| caches.owned(0, LineAddr(line)));
    left.sort_unstable();
    left.dedup();
    left
}

#[test]
fn lru_drops_the_least_recently_used() {
    let left = left(Replacement::Lru, 0, &[0, 1, 2, 3, 0, 4]);
    assert_eq!(left, [0, 2, 3, 4]);
}

#[test]
fn a_tree_points_away_from_the_last_uses() {
    // After 0 to 3 and 0, the root points right and the right pair away from 3.
    let left = left(Replacement::TreePlru, 0, &[0, 1, 2, 3, 0, 4]);
    assert_eq!(left, [0, 1, 3, 4]);
}

#[test]
fn qlru_spares_what_was_hit() {
    let qlru = Replacement::Qlru {
        hit: 0,
        insert: 1,
        distant: Share(0.0),
    };
    assert_eq!(left(qlru, 0, &[0, 1, 2, 3, 0, 4, 5, 6]), [0, 4, 5, 6]);
}

#[test]
fn distant_inserts_go_first() {
    let qlru = Replacement::Qlru {
        hit: 0,
        insert: 1,
        distant: Share(1.0),
    };
    assert_eq!(left(qlru, 0, &[0, 1, 2, 3, 4, 5, 6]), [1, 2, 3, 6]);
}

#[test]
fn nru_drops_the_first_that_was_not_used() {
    // The fourth fill clears the bits of the three before.
    assert_eq!(left(Replacement::Nru, 0, &[0, 1, 2, 3, 0, 4]), [0, 2, 3, 4]);
}

#[test]
fn random_victims_depend_on_the_seed_alone() {
    let lines: Vec<u64> = (0..40).collect();
    let by_seed = |seed| left(Replacement::Random, seed, &lines);
    assert_eq!(by_seed(1), by_seed(1));
    assert!((2..20).any(|seed| by_seed(seed) != by_seed(1)));
}
