//! Flushes and non-temporal writes.

use prestore_machine::Inclusion::NonInclusive;
use prestore_sim::{Below, Hierarchy, LineState, Time};
use prestore_trace::{FlushKind, LineAddr};

use crate::memory::Log;
use crate::{WHOLE, build, caches, far, load, machine, near, reads, store, writes};

fn two_levels() -> Hierarchy<Log> {
    caches(vec![near(2), far(NonInclusive, 4)])
}

fn flush(
    caches: &mut Hierarchy<Log>,
    core: u32,
    at: u64,
    kind: FlushKind,
    retain: bool,
) -> (u64, LineState) {
    let flushed = caches.flush(core, Time(at * 1000), LineAddr(0), kind, retain);
    (flushed.done.0 / 1000, flushed.state)
}

#[test]
fn a_dirty_line_is_done_when_the_controller_has_it() {
    let mut caches = two_levels();
    store(&mut caches, 0, 0, 0, 0xFF);
    let flushed = flush(&mut caches, 0, 500, FlushKind::Clwb, true);
    assert_eq!(flushed, (500 + 4 + 20, LineState::Dirty));
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn a_clean_line_is_done_when_that_is_known() {
    let mut caches = two_levels();
    load(&mut caches, 0, 0, 0);
    let flushed = flush(&mut caches, 0, 500, FlushKind::Clwb, true);
    assert_eq!(flushed, (504, LineState::Clean));
}

#[test]
fn an_absent_line_costs_a_look_at_all_levels() {
    let flushed = flush(&mut two_levels(), 0, 500, FlushKind::Clwb, true);
    assert_eq!(flushed, (540, LineState::Absent));
}

#[test]
fn a_cleaned_line_stays_owned_and_writes_nothing_when_evicted() {
    let mut caches = two_levels();
    store(&mut caches, 0, 0, 0, WHOLE);
    flush(&mut caches, 0, 500, FlushKind::Clwb, true);
    assert!(caches.owned(0, LineAddr(0)));
    for line in 1..8 {
        load(&mut caches, 0, 1000 * line, line);
    }
    assert_eq!(writes(&caches), [(0, WHOLE)]);
}

#[test]
fn a_clean_that_does_not_retain_removes_the_line() {
    let mut caches = two_levels();
    store(&mut caches, 0, 0, 0, WHOLE);
    flush(&mut caches, 0, 500, FlushKind::Clwb, false);
    load(&mut caches, 0, 700, 0);
    assert_eq!(reads(&caches), 2);
}

#[test]
fn a_clean_may_leave_the_line_in_the_shared_level() {
    let mut machine = machine::machine(2, vec![near(2), far(NonInclusive, 4)]);
    machine.core.clwb_to_shared = true;
    let mut caches = build(&machine);
    store(&mut caches, 0, 0, 0, WHOLE);
    let flushed = flush(&mut caches, 0, 500, FlushKind::Clwb, false);
    assert_eq!(flushed, (500 + 4 + 20, LineState::Dirty));
    assert!(!caches.owned(0, LineAddr(0)));
    // It is there once it is written.
    assert_eq!(load(&mut caches, 0, 480, 0), 524);
    assert_eq!((reads(&caches), writes(&caches).len()), (1, 1));
    // What removes lines removes this one.
    flush(&mut caches, 0, 900, FlushKind::Clflushopt, false);
    load(&mut caches, 0, 1000, 0);
    assert_eq!(reads(&caches), 2);
}

#[test]
fn flushes_with_nothing_to_write_may_ask_memory_all_the_same() {
    let mut machine = machine::machine(2, vec![near(2), far(NonInclusive, 4)]);
    for (asks, question) in [(false, 0), (true, 30)] {
        machine.core.flushes_ask_memory = asks;
        let mut caches = build(&machine);
        load(&mut caches, 0, 0, 0);
        let clean = flush(&mut caches, 0, 500, FlushKind::Clflush, false);
        assert_eq!(clean, (500 + 4 + question, LineState::Clean));
        let absent = flush(&mut caches, 0, 700, FlushKind::Clflush, false);
        assert_eq!(absent, (700 + 40 + question, LineState::Absent));
        store(&mut caches, 0, 900, 0, 0xFF);
        let dirty = flush(&mut caches, 0, 1200, FlushKind::Clflush, false);
        assert_eq!(dirty, (1200 + 4 + 20, LineState::Dirty));
    }
}

#[test]
fn clflushopt_removes_it_from_all_cores() {
    let mut caches = two_levels();
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 1, 200, 0);
    flush(&mut caches, 0, 500, FlushKind::Clflushopt, true);
    load(&mut caches, 1, 700, 0);
    assert_eq!(reads(&caches), 2);
}

#[test]
fn a_line_that_another_core_wrote_is_flushed_from_there() {
    let mut caches = two_levels();
    store(&mut caches, 1, 0, 0, 0xFF);
    let flushed = flush(&mut caches, 0, 500, FlushKind::DcCvac, true);
    assert_eq!(flushed, (500 + 60 + 20, LineState::Dirty));
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn a_flush_right_after_the_miss_waits_for_the_line() {
    let mut caches = two_levels();
    load(&mut caches, 0, 0, 0);
    let flushed = flush(&mut caches, 0, 10, FlushKind::Clwb, true);
    assert_eq!(flushed, (140, LineState::Clean));
}

#[test]
fn flushes_are_counted_by_what_they_found() {
    let mut caches = two_levels();
    flush(&mut caches, 0, 0, FlushKind::Clwb, true);
    store(&mut caches, 0, 100, 0, 1);
    flush(&mut caches, 0, 500, FlushKind::Clwb, true);
    flush(&mut caches, 0, 600, FlushKind::Clwb, true);
    let flushes = caches.counters().flushes;
    assert_eq!((flushes.dirty, flushes.clean, flushes.absent), (1, 1, 1));
}

#[test]
fn non_temporal_bytes_go_to_memory_at_once() {
    let mut caches = two_levels();
    let taken = caches.write_around(0, Time(500_000), LineAddr(0), 0xFF, &[]);
    assert_eq!(taken, Time(520_000));
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn dirty_bytes_that_they_do_not_overwrite_go_along() {
    let mut caches = two_levels();
    store(&mut caches, 1, 0, 0, 0xFF00);
    let taken = caches.write_around(0, Time(500_000), LineAddr(0), 0xFF, &[]);
    assert_eq!(taken, Time(580_000));
    assert_eq!(writes(&caches), [(0, 0xFFFF)]);
    load(&mut caches, 1, 700, 0);
    assert_eq!(reads(&caches), 2);
}
