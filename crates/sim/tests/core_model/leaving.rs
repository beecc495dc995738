//! Non-temporal stores that are written to the cache where they find their line there.

use prestore_machine::{Machine, WriteCombining};
use prestore_sim::ByteMask;

use crate::machine::{combining, tso};
use crate::mock::{Call, Mock, Thread, now};

const WHOLE: ByteMask = u64::MAX as ByteMask;

fn stays() -> Machine {
    let mut machine = tso();
    machine.core.write_combining = Some(WriteCombining {
        hits_stay: true,
        ..combining(4)
    });
    machine
}

#[test]
fn a_line_in_the_nearest_cache_is_written_there() {
    let mut below = Mock::owning([0]);
    Thread::default()
        .nt_store_at(0, 64)
        .finish(&stays(), &mut below);
    assert_eq!(below.arounds(), []);
    assert_eq!(below.writes(), [(0, Call::Write(0, WHOLE))]);
}

#[test]
fn any_other_goes_past_the_caches() {
    let mut below = Mock::default();
    Thread::default()
        .nt_store_at(0, 64)
        .finish(&stays(), &mut below);
    assert_eq!(below.arounds(), [(0, Call::Around(0, WHOLE))]);
    assert_eq!(below.writes(), []);
}

#[test]
fn a_store_whose_line_comes_too_late_goes_around_it() {
    // The store may leave when the load of line 9 is done, at 100.
    let mut below = Mock {
        read_owns: true,
        ..Mock::default()
    };
    let core = Thread::default()
        .load(9)
        .work(1)
        .nt_store_at(0, 64)
        .load(0)
        .run(&stays(), &mut below);
    // Its line is asked for by the load behind it at 3 and there at 103. The store waits for that, is taken
    // at 163, and the load reads again.
    assert_eq!(below.arounds(), [(103, Call::Around(0, WHOLE))]);
    assert_eq!(
        below.loads(),
        [(0, Call::Load(9)), (3, Call::Load(0)), (163, Call::Load(0))]
    );
    assert_eq!(now(&core), 3);
}

#[test]
fn a_load_that_fetches_the_line_in_time_makes_it_a_hit() {
    let mut below = Mock {
        read_owns: true,
        slow: Some((9, 200)),
        ..Mock::default()
    };
    Thread::default()
        .load(9)
        .nt_store_at(0, 64)
        .load(0)
        .finish(&stays(), &mut below);
    assert_eq!(below.arounds(), []);
    assert_eq!(below.writes(), [(200, Call::Write(0, WHOLE))]);
    assert_eq!(below.loads(), [(0, Call::Load(9)), (2, Call::Load(0))]);
}

#[test]
fn they_leave_in_order_and_a_full_queue_stalls() {
    let mut machine = stays();
    machine.core.store_buffer.entries = 2;
    let mut below = Mock::owning([0, 1, 2]);
    let core = Thread::default()
        .load(9)
        .nt_store_at(0, 64)
        .nt_store_at(64, 64)
        .nt_store_at(128, 64)
        .run(&machine, &mut below);
    // The third comes at 3 and finds room when the first leaves, at 100.
    assert_eq!(now(&core), 100);
    assert_eq!(below.writes(), [(100, Call::Write(0, WHOLE))]);
}

#[test]
fn a_fence_waits_for_those_that_are_written_to_the_cache() {
    let mut below = Mock::owning([0]);
    let core = Thread::default()
        .load(9)
        .nt_store_at(0, 64)
        .sfence()
        .run(&stays(), &mut below);
    assert_eq!(now(&core), 100);
}

#[test]
fn a_store_to_the_line_comes_after_it() {
    let mut below = Mock::owning([0]);
    Thread::default()
        .nt_store_at(0, 64)
        .store(0)
        .finish(&stays(), &mut below);
    let bytes: Vec<Call> = below.writes().iter().map(|(_, call)| *call).collect();
    assert_eq!(bytes, [Call::Write(0, WHOLE), Call::Write(0, 0xff)]);
}
