//! What a hit and a miss cost.

use prestore_machine::Inclusion::NonInclusive;
use prestore_sim::{Below, ServedBy, Time};
use prestore_trace::LineAddr;

use crate::{WHOLE, caches, far, load, near, reads, store};

#[test]
fn a_miss_is_read_by_memory_once_the_last_level_has_missed() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    let served = caches.load(0, Time(7_000), LineAddr(3));
    assert_eq!(served.done, Time(147_000));
    assert_eq!(served.by, ServedBy::Memory(1));
}

#[test]
fn a_hit_takes_its_levels_latency() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    for line in 0..3 {
        load(&mut caches, 0, 0, line);
    }
    let near = caches.load(0, Time(500_000), LineAddr(2));
    assert_eq!((near.done, near.by), (Time(504_000), ServedBy::Cache(0)));
    let far = caches.load(0, Time(500_000), LineAddr(0));
    assert_eq!((far.done, far.by), (Time(540_000), ServedBy::Cache(1)));
}

#[test]
fn a_hit_on_a_line_under_way_waits_for_it() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    assert_eq!(load(&mut caches, 0, 1, 0), 140);
    assert_eq!(load(&mut caches, 0, 139, 0), 143);
}

#[test]
fn a_miss_waits_for_a_free_slot() {
    let mut near = near(4);
    near.mshrs = Some(2);
    let mut caches = caches(vec![near, far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 0, 10, 1);
    // The first of the two ends at 140.
    assert_eq!(load(&mut caches, 0, 20, 2), 280);
}

#[test]
fn a_line_that_will_be_overwritten_whole_is_not_read() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    let owned = caches.own(0, Time(5_000), LineAddr(0), true);
    assert_eq!(owned.done, Time(45_000));
    assert_eq!(reads(&caches), 0);
}

#[test]
fn a_line_that_was_read_alone_is_owned_already() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    assert!(caches.owned(0, LineAddr(0)));
    assert_eq!(store(&mut caches, 0, 500, 0, WHOLE), 500);
}
