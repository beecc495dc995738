//! Lines of memory that is not write-back.

use prestore_machine::Inclusion::NonInclusive;
use prestore_sim::{Below, ServedBy, Time};
use prestore_trace::LineAddr;

use crate::{WHOLE, caches, far, load, near, reads, store, writes};

const LINE: LineAddr = LineAddr(0);

#[test]
fn a_line_that_is_written_through_stays_where_it_is_and_clean() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    load(&mut caches, 0, 0, 0);
    let taken = caches.write_through(0, Time(500_000), LINE, 0xF0, &[]);
    assert_eq!(taken, Time(520_000), "20 ns to memory");
    assert_eq!(writes(&caches), [(0, 0xF0)]);
    assert_eq!(load(&mut caches, 0, 600, 0), 604);
    let flushed = caches.flush(
        0,
        Time(700_000),
        LINE,
        prestore_trace::FlushKind::Clwb,
        true,
    );
    assert_eq!(flushed.state, prestore_sim::LineState::Clean);
}

#[test]
fn a_line_that_is_written_through_and_not_cached_is_not_fetched() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    caches.write_through(0, Time(500_000), LINE, 0xF0, &[]);
    assert_eq!((reads(&caches), writes(&caches)), (0, vec![(0, 0xF0)]));
    assert_eq!(load(&mut caches, 0, 600, 0), 740, "a miss of all levels");
}

#[test]
fn other_cores_lose_a_line_that_is_written_through() {
    let mut caches = caches(vec![near(2)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 1, 0, 0);
    let taken = caches.write_through(0, Time(500_000), LINE, 0xF0, &[]);
    assert_eq!(
        taken,
        Time(580_000),
        "60 ns until the other has given it up"
    );
    assert_eq!(load(&mut caches, 0, 600, 0), 604);
    let served = caches.load(1, Time(700_000), LINE);
    assert_eq!((served.done, served.by), (Time(760_000), ServedBy::Peer));
}

#[test]
fn what_was_dirty_goes_to_memory_with_what_is_written_through() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    store(&mut caches, 0, 0, 0, 0x0F);
    caches.write_through(0, Time(500_000), LINE, 0xF0, &[]);
    assert_eq!(writes(&caches), [(0, 0xFF)]);
}

#[test]
fn loads_around_the_caches_read_memory_each_time() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    for at in [0, 500] {
        let served = caches.load_around(0, Time(at * 1000), LINE);
        assert_eq!(served.done, Time((at + 140) * 1000));
        assert_eq!(served.by, ServedBy::Memory(0));
    }
    assert_eq!(reads(&caches), 2);
}

#[test]
fn a_load_around_the_caches_finds_what_they_have() {
    let mut caches = caches(vec![near(2), far(NonInclusive, 4)]);
    store(&mut caches, 1, 0, 0, WHOLE);
    let served = caches.load_around(0, Time(500_000), LINE);
    // A snoop, the write to memory, and the read behind it.
    assert_eq!(served.done, Time((500 + 60 + 20 + 100) * 1000));
    assert_eq!(writes(&caches), [(0, WHOLE)]);
    assert!(!caches.owned(1, LINE));
}

#[test]
fn a_range_is_flushed_wherever_it_is_cached() {
    for last in [3, 1 << 40] {
        let mut caches = caches(vec![near(4), far(NonInclusive, 4)]);
        for (core, line) in [(0, 0), (1, 2), (0, 5)] {
            store(&mut caches, core, 100 * line, line, 0xFF);
        }
        caches.flush_all(0, Time(900_000), 1..=last);
        let expected: &[u64] = if last == 3 { &[2] } else { &[2, 5] };
        let written: Vec<u64> = writes(&caches).iter().map(|w| w.0).collect();
        assert_eq!(written, expected);
        assert!(caches.owned(0, LINE) && !caches.owned(1, LineAddr(2)));
    }
}
