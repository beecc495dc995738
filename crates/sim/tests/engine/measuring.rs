//! What is measured, and what only warms up.

use prestore_sim::{Interest, MOST_INTERVALS, Op, Plan, SimulationError, Time};

use crate::loops::{PLAN, run};
use crate::mock::{begin, end, hand_off, load, ns, ops, store, wait_for};

fn region(interest: Interest) -> Plan {
    Plan { interest, ..PLAN }
}

fn phases() -> Vec<Op> {
    vec![
        store(100),
        begin(4),
        load(1),
        load(1),
        end(4),
        store(50),
        begin(5),
        load(7),
        end(5),
        begin(4),
        load(2),
        end(4),
        store(1000),
    ]
}

#[test]
fn only_the_region_asked_for_counts() {
    let done = run(vec![phases()], region(Interest::Region(4))).unwrap();
    assert_eq!(done.measured.elapsed, ns(4));
    assert_eq!(ops(&done.measured.counts).loads, 3);
    assert_eq!(ops(&done.measured.counts).stores, 0);
    assert_eq!(done.measured.counts.threads[0].clock, ns(4));
}

#[test]
fn any_region_is_all_of_them() {
    let done = run(vec![phases()], region(Interest::AnyRegion)).unwrap();
    assert_eq!(done.measured.elapsed, ns(11));
    assert_eq!(ops(&done.measured.counts).loads, 4);
}

#[test]
fn a_region_is_open_until_its_last_one_closes() {
    let outer = vec![begin(1), load(10), end(1), store(90)];
    let late = vec![
        store(5),
        begin(1),
        begin(1),
        load(20),
        end(1),
        end(1),
        store(90),
    ];
    let done = run(vec![outer, late], region(Interest::Region(1))).unwrap();
    assert_eq!(done.measured.elapsed, ns(25));
}

#[test]
fn a_region_left_open_ends_with_its_thread() {
    let plan = region(Interest::Region(1));
    let done = run(vec![vec![begin(1), load(10)], vec![store(90)]], plan).unwrap();
    assert_eq!(done.measured.elapsed, ns(10));
}

#[test]
fn a_region_that_never_opens_is_an_error_that_names_those_that_do() {
    let error = run(vec![phases()], region(Interest::Region(9))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "region 9 never opens; regions that do: 4, 5"
    );
    let error = run(vec![vec![load(1)]], region(Interest::AnyRegion)).unwrap_err();
    assert!(error.to_string().contains("no source regions"), "{error}");
}

#[test]
fn warm_up_is_simulated_and_not_measured() {
    let plan = Plan { warmup: 3, ..PLAN };
    let done = run(vec![vec![load(10); 5]], plan).unwrap();
    assert_eq!(done.measured.elapsed, ns(20));
    assert_eq!(ops(&done.measured.counts).loads, 2);
    assert_eq!(done.ops, 5);
}

#[test]
fn warm_up_of_all_is_an_error() {
    let plan = Plan { warmup: 6, ..PLAN };
    let error = run(vec![vec![load(10); 5]], plan).unwrap_err();
    let SimulationError::AllWarmup { ops, warmup } = error else {
        panic!("{error}");
    };
    assert_eq!((ops, warmup), (5, 6));
}

#[test]
fn a_message_takes_from_where_its_region_opens() {
    let producer = vec![
        store(100),
        begin(1),
        store(10),
        store(10),
        hand_off(0),
        end(1),
    ];
    let consumer = vec![wait_for(0), load(4)];
    let done = run(vec![producer, consumer], PLAN).unwrap();
    let messages = done.measured.messages.summary();
    assert_eq!((messages.count, messages.mean_ns), (1, 24.0));
    assert_eq!(done.measured.handoffs.summary().count, 1);
}

#[test]
fn a_time_series_of_a_long_run_is_bounded_and_complete() {
    let n = 200_000;
    let done = run(vec![vec![load(100); n]], PLAN).unwrap();
    let series = &done.measured.series;
    assert!(series.intervals().len() <= MOST_INTERVALS);
    assert!(series.intervals().len() > MOST_INTERVALS / 2);
    let accesses: u64 = series.intervals().iter().map(|i| i.accesses).sum();
    assert_eq!(accesses, n as u64);
    let covered = Time(series.width().0 * series.intervals().len() as u64);
    assert!(covered >= done.measured.elapsed);
    // Even work is even over time, but for the last interval, which the run does not fill.
    let per = series.width().0 / 100_000;
    for i in &series.intervals()[..series.intervals().len() - 1] {
        assert!(i.accesses.abs_diff(per) <= 1, "{i:?}, not {per}");
    }
}
