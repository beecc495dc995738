//! What is counted of lines that move.

use prestore_machine::Inclusion::{NonInclusive, NonInclusiveVictim};
use prestore_machine::Scope;
use prestore_sim::{Below, Hierarchy, Time};
use prestore_trace::LineAddr;

use crate::memory::Log;
use crate::{WHOLE, caches, far, load, machine, near, store};

/// Two private levels and a shared one.
fn three_levels() -> Hierarchy<Log> {
    let middle = machine::level(Scope::Private, NonInclusive, 1, 2, 14);
    caches(vec![near(2), middle, far(NonInclusiveVictim, 4)])
}

/// Lines and bytes that went down at each boundary.
fn down(caches: &Hierarchy<Log>) -> Vec<(u64, u64)> {
    let boundaries = caches.counters().boundaries.iter();
    boundaries.map(|b| (b.down_lines, b.down_bytes)).collect()
}

/// Dirty bytes of the nearest level pass the next private one on their way to the shared level.
#[test]
fn what_a_demote_takes_crosses_all_boundaries_on_its_way() {
    let mut caches = three_levels();
    store(&mut caches, 0, 0, 0, WHOLE);
    caches.demote(0, Time(500_000), LineAddr(0));
    assert_eq!(down(&caches), [(1, 64), (1, 64), (0, 0)]);
}

#[test]
fn so_does_what_another_core_loses_to_a_load() {
    let mut caches = three_levels();
    store(&mut caches, 0, 0, 0, WHOLE);
    load(&mut caches, 1, 500, 0);
    assert_eq!(down(&caches), [(1, 64), (1, 64), (0, 0)]);
}
