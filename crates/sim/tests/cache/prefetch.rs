//! Prefetchers.

use prestore_machine::Inclusion::NonInclusive;
use prestore_machine::Prefetch;
use prestore_sim::Hierarchy;

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
fn a_stream_forgotten_starts_again() {
    let mut caches = with(stride(1, 1));
    for line in [0, 3, 640, 6] {
        load(&mut caches, 0, 200 * line, line);
    }
    assert_eq!(caches.counters().prefetches.stride, 0);
}
