//! What leaves a cache, where it goes, and when.

use prestore_machine::Inclusion::{Exclusive, NonInclusive, NonInclusiveVictim};
use prestore_sim::{Below, Time};
use prestore_trace::LineAddr;

use crate::memory::Call;
use crate::{WHOLE, caches, far, load, near, reads, store, writes};

#[test]
fn a_dirty_victim_is_written_when_the_line_that_replaces_it_arrives() {
    let mut caches = caches(vec![near(1)]);
    store(&mut caches, 0, 0, 0, WHOLE);
    load(&mut caches, 0, 200, 1);
    let last = *caches.memory().0.last().unwrap();
    assert_eq!(last, Call::Write(0, Time(304_000), 0, WHOLE));
}

#[test]
fn a_clean_victim_writes_nothing() {
    let mut caches = caches(vec![near(1)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 0, 200, 1);
    assert_eq!(writes(&caches), []);
}

#[test]
fn dirty_bytes_travel_with_their_line() {
    let mut caches = caches(vec![near(1), far(NonInclusive, 1)]);
    store(&mut caches, 0, 0, 0, 0xFF);
    // Line 0 leaves the near level, then line 1 pushes it out of the far one.
    load(&mut caches, 0, 200, 1);
    load(&mut caches, 0, 400, 2);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn bytes_written_one_by_one_are_written_back_together() {
    let mut caches = caches(vec![near(1)]);
    store(&mut caches, 0, 0, 0, 0xF0);
    store(&mut caches, 0, 200, 0, 0x0F);
    load(&mut caches, 0, 300, 1);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn a_victim_level_holds_what_the_nearer_level_lost_and_nothing_before() {
    let mut caches = caches(vec![near(1), far(NonInclusiveVictim, 4)]);
    load(&mut caches, 0, 0, 0);
    assert_eq!(caches.counters().levels[1].fills, 0);
    load(&mut caches, 0, 200, 1);
    assert_eq!(load(&mut caches, 0, 400, 0), 440);
    assert_eq!(reads(&caches), 2);
}

#[test]
fn a_hit_frees_the_line_in_an_exclusive_level() {
    let mut caches = caches(vec![near(1), far(Exclusive, 1)]);
    store(&mut caches, 0, 0, 0, 0xFF);
    load(&mut caches, 0, 200, 1);
    // Line 0 comes back with its dirty bytes, line 1 takes its place: nothing is pushed out.
    assert_eq!(load(&mut caches, 0, 400, 0), 440);
    assert_eq!(load(&mut caches, 0, 600, 1), 640);
    assert_eq!(writes(&caches), []);
    load(&mut caches, 0, 800, 2);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn fills_wait_while_the_eviction_buffer_is_full() {
    let mut near = near(1);
    near.mshrs = Some(1);
    let mut caches = caches(vec![near]);
    store(&mut caches, 0, 0, 0, WHOLE);
    // Line 0 is on its way to the controller until 324.
    assert_eq!(store(&mut caches, 0, 200, 1, WHOLE), 304);
    let waits = caches.own(0, Time(310_000), LineAddr(2), true);
    assert_eq!(waits.done, Time(324_000));
    let last = *caches.memory().0.last().unwrap();
    assert_eq!(last, Call::Write(0, Time(324_000), 1, WHOLE));
}

#[test]
fn a_write_through_level_stays_clean() {
    let mut through = near(1);
    through.write = prestore_machine::WritePolicy::Through;
    let mut caches = caches(vec![through, far(NonInclusive, 2)]);
    load(&mut caches, 0, 0, 0);
    store(&mut caches, 0, 200, 0, 0xFF);
    let boundaries = &caches.counters().boundaries;
    assert_eq!((boundaries[0].down_lines, boundaries[0].down_bytes), (1, 8));
    load(&mut caches, 0, 400, 1);
    let counters = caches.counters().levels[0];
    assert_eq!((counters.clean_evictions, counters.dirty_evictions), (1, 0));
}
