//! Inclusive levels and the snoop filter take lines out of nearer caches.

use prestore_machine::Inclusion::{Exclusive, Inclusive, NonInclusive};
use prestore_machine::{Scope, SnoopFilter};

use crate::machine::{level, machine};
use crate::{build, caches, far, load, near, store, writes};

#[test]
fn an_inclusive_victim_leaves_the_nearer_levels_too() {
    let mut caches = caches(vec![near(4), far(Inclusive, 2)]);
    store(&mut caches, 0, 0, 0, 0xFF);
    load(&mut caches, 1, 200, 1);
    load(&mut caches, 1, 400, 2);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
    assert_eq!(caches.counters().levels[0].back_invalidations, 1);
    assert_eq!(load(&mut caches, 0, 600, 0), 740);
}

#[test]
fn a_non_inclusive_victim_leaves_nearer_copies_alone() {
    let mut caches = caches(vec![near(4), far(NonInclusive, 2)]);
    for line in 0..3 {
        load(&mut caches, 0, 200 * line, line);
    }
    assert_eq!(load(&mut caches, 0, 600, 0), 604);
}

#[test]
fn a_filter_that_gives_up_a_line_takes_it_out_of_private_caches() {
    let mut machine = machine(2, vec![near(4), far(NonInclusive, 4)]);
    machine.directory.filter = Some(SnoopFilter {
        entries: 2,
        ways: 2,
    });
    let mut caches = build(&machine);
    store(&mut caches, 0, 0, 0, 0xFF);
    load(&mut caches, 0, 200, 1);
    load(&mut caches, 0, 400, 2);
    assert_eq!(caches.counters().coherence.filter_evictions, 1);
    // It went where the last private level's victims go.
    assert_eq!(writes(&caches), []);
    assert_eq!(load(&mut caches, 0, 600, 0), 640);
}

/// A read does not make a line anybody's own there, but no other core can want to keep it in the farther level either.
#[test]
fn an_exclusive_level_behind_a_shared_one_gives_its_line_up() {
    let nearest = level(Scope::Shared, NonInclusive, 1, 1, 4);
    let mut caches = caches(vec![nearest, far(Exclusive, 1)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 0, 500, 1);
    // Lines 0 and 1 change places, and nothing has to go.
    assert_eq!(load(&mut caches, 0, 1000, 0), 1040);
    assert_eq!(load(&mut caches, 0, 1500, 1), 1540);
    assert_eq!(caches.counters().levels[1].clean_evictions, 0);
}
