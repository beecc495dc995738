//! Several cores and one line.

use prestore_machine::Inclusion::{NonInclusive, NonInclusiveVictim};
use prestore_sim::{Below, Hierarchy, ServedBy, Time};
use prestore_trace::{FlushKind, LineAddr};

use crate::memory::Log;
use crate::{WHOLE, build, caches, far, load, machine, near, reads, store, writes};

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
    assert_eq!((counters.coherence.upgrades, reads(&caches)), (1, 1));
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
    let done = caches.write(0, Time(700_000), LineAddr(0), 0xF0, &[]);
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
    assert_eq!(caches.counters().coherence.snoops, 0);
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

/// A read miss without queues ends 140 ns after it began.
#[test]
fn a_line_on_its_way_to_another_core_is_handed_on_when_it_is_there() {
    let mut caches = caches(vec![near(2), far(NonInclusiveVictim, 4)]);
    assert_eq!(load(&mut caches, 0, 0, 0), 140);
    let served = caches.load(1, Time(10_000), LineAddr(0));
    assert_eq!((served.done, served.by), (Time(200_000), ServedBy::Peer));
    assert_eq!(reads(&caches), 1);
}

#[test]
fn of_several_cores_the_first_that_has_it_hands_it_on() {
    let mut caches = build(&crate::machine::machine(
        3,
        vec![near(2), far(NonInclusiveVictim, 4)],
    ));
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 1, 130, 0);
    // The second has it at 200 only, the first from 140 on.
    assert_eq!(load(&mut caches, 2, 150, 0), 210);
}

#[test]
fn what_is_on_its_way_to_others_is_theirs_before_it_can_be_owned() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 1, 10, 0);
    // Core 1 has its copy at 200, and can give it up then.
    let owned = caches.own(0, Time(150_000), LineAddr(0), false);
    assert_eq!(owned.done, Time(260_000));
}

#[test]
fn a_flush_of_what_is_on_its_way_to_its_owner_waits_for_it() {
    let mut caches = caches(vec![near(2), far(NonInclusiveVictim, 4)]);
    caches.own(0, Time(0), LineAddr(0), false);
    caches.write(0, Time(140_000), LineAddr(0), WHOLE, &[]);
    let flushed = caches.flush(
        1,
        Time(20_000),
        LineAddr(0),
        prestore_trace::FlushKind::Clwb,
        true,
    );
    // To the memory at 200, which takes it in 30.
    assert_eq!(flushed.done, Time(220_000));
}

#[test]
fn a_victim_whose_data_has_not_come_is_not_at_hand_beyond() {
    let mut caches = caches(vec![near(1), far(NonInclusiveVictim, 4)]);
    load(&mut caches, 0, 0, 0);
    // Its place is taken before it is there.
    load(&mut caches, 0, 10, 1);
    assert_eq!(load(&mut caches, 0, 20, 0), 140);
}

#[test]
fn what_a_reader_leaves_dirty_in_the_shared_level_comes_there_with_its_answer() {
    let mut caches = build(&crate::machine::machine(
        3,
        vec![near(2), far(NonInclusiveVictim, 4)],
    ));
    store(&mut caches, 0, 0, 0, WHOLE);
    assert_eq!(load(&mut caches, 1, 500, 0), 560);
    assert_eq!(load(&mut caches, 2, 510, 0), 560);
    assert_eq!(load(&mut caches, 0, 700, 0), 704);
}

/// Cores 1 and 2 have a line, in that order; the second has got it at 200 ns.
fn shared_by_two() -> Hierarchy<Log> {
    let levels = vec![near(2), far(NonInclusiveVictim, 4)];
    let mut caches = build(&machine::machine(3, levels));
    load(&mut caches, 1, 0, 0);
    load(&mut caches, 2, 10, 0);
    caches
}

/// Who fences afterwards may rely on it that nobody reads the old bytes any more.
#[test]
fn non_temporal_bytes_are_written_when_other_cores_have_given_the_line_up() {
    let around = |caches: &mut Hierarchy<Log>, at| {
        let done = caches.write_around(0, Time(at), LineAddr(0), 0xFF, &[]);
        done.0 / 1000
    };
    assert_eq!(around(&mut shared_by_two(), 50_000), 200 + 60 + 20);
    assert_eq!(around(&mut shared_by_two(), 500_000), 500 + 60 + 20);
}

#[test]
fn a_flush_takes_a_line_from_all_others_before_it_is_done() {
    let flushed = |kind, retain| {
        let mut caches = shared_by_two();
        load(&mut caches, 0, 300, 0);
        let flushed = caches.flush(0, Time(500_000), LineAddr(0), kind, retain);
        flushed.done.0 / 1000
    };
    assert_eq!(flushed(FlushKind::Clflushopt, true), 560);
    assert_eq!(flushed(FlushKind::Clwb, false), 560);
    // They keep it.
    assert_eq!(flushed(FlushKind::Clwb, true), 504);
}
