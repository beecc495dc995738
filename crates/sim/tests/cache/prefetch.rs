//! Prefetchers.

use prestore_machine::Inclusion::NonInclusive;
use prestore_machine::Prefetch;
use prestore_sim::{Below, Hierarchy, Time};
use prestore_trace::LineAddr;

use crate::machine::machine;
use crate::memory::Log;
use crate::{build, far, load, near, reads};

fn with(prefetch: Prefetch) -> Hierarchy<Log> {
    let mut machine = machine(1, vec![near(16), far(NonInclusive, 32)]);
    machine.core.prefetch = prefetch;
    build(&machine)
}

fn stride(streams: u32, degree: u32) -> Prefetch {
    Prefetch {
        stride_streams: streams,
        stride_degree: degree,
        ..Prefetch::default()
    }
}

#[test]
fn by_default_nothing_is_prefetched() {
    let mut caches = with(Prefetch::default());
    load(&mut caches, 0, 0, 0);
    assert_eq!(reads(&caches), 1);
}

#[test]
fn the_next_line_is_under_way_with_its_neighbour() {
    let mut caches = with(Prefetch {
        next_line: true,
        ..Prefetch::default()
    });
    load(&mut caches, 0, 0, 0);
    assert_eq!(load(&mut caches, 0, 10, 1), 140);
    let counted = caches.counters().prefetches;
    assert_eq!((counted.next_line, counted.useful), (1, 1));
}

#[test]
fn the_next_page_is_left_alone() {
    let mut caches = with(Prefetch {
        next_line: true,
        ..Prefetch::default()
    });
    load(&mut caches, 0, 0, 63);
    assert_eq!(reads(&caches), 1);
}

#[test]
fn two_equal_strides_start_a_stream() {
    let mut caches = with(stride(4, 2));
    for line in [0, 3, 6] {
        load(&mut caches, 0, 200 * line, line);
    }
    assert_eq!(load(&mut caches, 0, 2000, 9), 2004);
    assert_eq!(load(&mut caches, 0, 2100, 12), 2104);
    // Each use of a prefetched line has led on.
    assert_eq!(load(&mut caches, 0, 3000, 18), 3004);
}

#[test]
fn a_stream_runs_farther_ahead_with_each_use() {
    let mut caches = with(Prefetch {
        stride_step: 2,
        ..stride(4, 20)
    });
    let mut fetched = 0;
    // Lines ahead of what was asked for: none until two distances are equal, then one more each time.
    for (line, ahead) in [(0, 0), (1, 0), (2, 2), (3, 3), (4, 4), (5, 5)] {
        load(&mut caches, 0, 2000 * line, line);
        fetched = caches.counters().prefetches.stride;
        let asked = line.min(2) + 1;
        assert_eq!(asked + fetched - (line + 1), ahead, "at line {line}");
    }
    assert_eq!((fetched, reads(&caches)), (8, 11));
}

#[test]
fn a_stream_stops_at_its_degree_and_at_the_page() {
    let mut caches = with(Prefetch {
        stride_step: 2,
        ..stride(4, 3)
    });
    for line in 0..10 {
        load(&mut caches, 0, 2000 * line, line);
    }
    assert_eq!(reads(&caches), 13);
    for line in 10..64 {
        load(&mut caches, 0, 2000 * line, line);
    }
    assert_eq!(reads(&caches), 64);
}

#[test]
fn a_prefetch_without_a_miss_slot_is_dropped() {
    let mut machine = machine(1, vec![near(16), far(NonInclusive, 32)]);
    machine.core.prefetch = stride(4, 8);
    let nearest = machine.caches.iter_mut().next();
    nearest.unwrap().mshrs = Some(3);
    let mut caches = build(&machine);
    for line in [0, 1, 2] {
        load(&mut caches, 0, 2000 * line, line);
    }
    // The miss that confirmed the stream holds one of the three.
    assert_eq!(caches.counters().prefetches.stride, 2);
}

#[test]
fn a_stream_forgotten_starts_again() {
    let mut caches = with(stride(1, 1));
    for line in [0, 3, 640, 6] {
        load(&mut caches, 0, 200 * line, line);
    }
    assert_eq!(caches.counters().prefetches.stride, 0);
}

#[test]
fn a_line_that_another_core_supplies_is_seen_though_it_is_overwritten() {
    let mut machine = machine(2, vec![near(16)]);
    machine.core.prefetch.next_line = true;
    let mut caches = build(&machine);
    load(&mut caches, 0, 0, 0);
    assert_eq!(reads(&caches), 2);
    caches.own(1, Time(500_000), LineAddr(1), true);
    assert_eq!(reads(&caches), 3, "the line behind it");
    caches.own(1, Time(900_000), LineAddr(40), true);
    assert_eq!(reads(&caches), 3, "nothing was read");
}
