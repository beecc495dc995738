//! Several cores and one line.

use prestore_machine::Inclusion::{NonInclusive, NonInclusiveVictim};
use prestore_sim::{Below, ServedBy, Time};
use prestore_trace::LineAddr;

use crate::{WHOLE, caches, far, load, near, reads, store, writes};

#[test]
fn a_line_that_another_core_wrote_comes_from_there() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    store(&mut caches, 0, 0, 0, WHOLE);
    let served = caches.load(1, Time(500_000), LineAddr(0));
    assert_eq!((served.done, served.by), (Time(560_000), ServedBy::Peer));
    assert!(!caches.owned(0, LineAddr(0)));
}

#[test]
fn what_a_peer_read_of_a_written_line_leaves_dirty_is_in_the_shared_level() {
    let mut caches = caches(vec![near(1), far(NonInclusiveVictim, 4)]);
    store(&mut caches, 0, 0, 0, 0xFF);
    load(&mut caches, 1, 500, 0);
    // Neither core's victim writes anything back again.
    load(&mut caches, 0, 700, 1);
    load(&mut caches, 1, 900, 2);
    assert_eq!(caches.counters().levels[0].dirty_evictions, 0);
    assert_eq!(load(&mut caches, 0, 1200, 0), 1240);
    assert_eq!(writes(&caches), []);
}

#[test]
fn without_a_shared_level_it_is_written_to_memory() {
    let mut caches = caches(vec![near(1)]);
    store(&mut caches, 0, 0, 0, 0xFF);
    load(&mut caches, 1, 500, 0);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn ownership_takes_other_copies_away() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 1, 200, 0);
    let owned = caches.own(1, Time(500_000), LineAddr(0), false);
    assert_eq!((owned.done, owned.by), (Time(560_000), ServedBy::Cache(0)));
    let counters = caches.counters();
    assert_eq!((counters.upgrades, reads(&caches)), (1, 1));
    let again = caches.load(0, Time(700_000), LineAddr(0));
    assert_eq!((again.done, again.by), (Time(760_000), ServedBy::Peer));
}

#[test]
fn dirty_bytes_move_with_ownership() {
    let mut caches = caches(vec![near(1)]);
    store(&mut caches, 0, 0, 0, 0x0F);
    store(&mut caches, 1, 500, 0, 0xF0);
    load(&mut caches, 1, 700, 1);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn a_write_to_a_line_lost_meanwhile_takes_it_back() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    store(&mut caches, 0, 0, 0, 0x0F);
    store(&mut caches, 1, 500, 0, 0x0F);
    let done = caches.write(0, Time(700_000), LineAddr(0), 0xF0);
    assert_eq!(done, Time(760_000));
}

#[test]
fn a_demoted_line_is_read_from_the_shared_level() {
    let mut caches = caches(vec![near(2), far(NonInclusiveVictim, 4)]);
    store(&mut caches, 0, 0, 0, WHOLE);
    let there = caches.demote(0, Time(500_000), LineAddr(0));
    assert_eq!(there, Time(540_000));
    let served = caches.load(1, Time(600_000), LineAddr(0));
    assert_eq!(
        (served.done, served.by),
        (Time(640_000), ServedBy::Cache(1))
    );
    assert_eq!(caches.counters().snoops, 0);
}

#[test]
fn a_line_on_its_way_to_the_shared_level_is_waited_for() {
    let mut caches = caches(vec![near(2), far(NonInclusiveVictim, 4)]);
    store(&mut caches, 0, 0, 0, WHOLE);
    caches.demote(0, Time(500_000), LineAddr(0));
    assert_eq!(load(&mut caches, 1, 490, 0), 540);
}

#[test]
fn demoting_what_is_not_there_does_nothing() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 1, 0, 0);
    assert_eq!(caches.demote(0, Time(500_000), LineAddr(0)), Time(500_000));
    assert_eq!(load(&mut caches, 1, 600, 0), 604);
}
