//! Atomics that what follows overtakes in time, as far as the reorder window reaches, and never in order.

use prestore_machine::Machine;
use prestore_sim::Cause;
use prestore_trace::FenceKind;

use crate::machine::tso;
use crate::mock::{Call, Mock, Thread, now, ns};

fn overlapping() -> Machine {
    let mut machine = tso();
    machine.core.atomics_overlap = true;
    machine.core.atomic = prestore_machine::quantity::Cycles(0.0);
    machine
}

#[test]
fn a_load_behind_an_atomic_does_not_wait_for_the_stores_before_it() {
    let thread = Thread::default().store(1).atomic(0).load(2);
    let mut below = Mock::owning([0]);
    thread.run(&overlapping(), &mut below);
    assert_eq!(below.loads(), [(2, Call::Load(2))]);
    // Where it holds up dispatch, the store drains at 50 and the atomic behind it.
    let mut below = Mock::owning([0]);
    let mut machine = overlapping();
    machine.core.atomics_overlap = false;
    thread.run(&machine, &mut below);
    assert_eq!(below.loads(), [(51, Call::Load(2))]);
}

#[test]
fn an_atomic_takes_its_turn_among_the_stores() {
    let mut below = Mock::owning([0, 2]);
    let thread = Thread::default().store(1).atomic(0).store(2);
    thread.finish(&overlapping(), &mut below);
    assert_eq!(
        below.writes(),
        [
            (50, Call::Write(1, 0xff)),
            (51, Call::Write(0, 0xff)),
            (52, Call::Write(2, 0xff))
        ]
    );
}

#[test]
fn an_atomic_waits_for_the_data_of_its_line_even_where_stores_do_not() {
    let mut machine = overlapping();
    machine.core.store_buffer.leaves_when_granted = true;
    let mut below = Mock::default();
    let (core, end) = Thread::default().atomic(1).finish(&machine, &mut below);
    assert_eq!(below.writes(), [(50, Call::Write(1, 0xff))]);
    assert_eq!(end, 50);
    assert_eq!(core.results().atomic_latency.summary().count, 1);
}

#[test]
fn misses_of_atomics_overlap_and_the_window_bounds_how_many() {
    let atomics = (1..=4).fold(Thread::default(), |thread, line| thread.atomic(line));
    let (_, end) = atomics.finish(&overlapping(), &mut Mock::default());
    // Asked for in cycles 0 to 3.
    assert_eq!(end, 53);
    let mut machine = overlapping();
    machine.core.rob = 2;
    let mut below = Mock::default();
    let (core, _) = atomics.finish(&machine, &mut below);
    let asked: Vec<u64> = below.owns().iter().map(|(at, _)| *at).collect();
    // The third is two instructions behind the first, which is done at 50.
    assert_eq!(asked, [0, 1, 50, 51]);
    // And the instruction behind the last is two behind the third.
    assert_eq!(core.results().stalls.of(Cause::AtomicOrder), ns(96));
}

#[test]
fn what_an_atomic_writes_is_not_forwarded() {
    let core = Thread::default()
        .atomic(1)
        .load(1)
        .fence(FenceKind::Load)
        .run(&overlapping(), &mut Mock::default());
    // Dispatched when the atomic is done, and found in the nearest cache.
    assert_eq!(now(&core), 54);
    assert_eq!(core.results().stalls.of(Cause::StoreForward), ns(49));
}

#[test]
fn a_flush_behind_an_atomic_goes_when_that_is_done() {
    let mut below = Mock::owning([2]);
    let thread = Thread::default().store(2).atomic(1).clwb(2);
    thread.finish(&overlapping(), &mut below);
    // The atomic is dispatched at 1 and has its line at 51.
    assert_eq!(below.flushes()[0].0, 51);
}

#[test]
fn a_flush_that_waited_for_room_does_not_wait_for_an_atomic_that_is_done() {
    let mut below = Mock::owning(2..=12);
    let thread = (2..=12).fold(Thread::default().atomic(1), |thread, line| {
        thread.clwb(line)
    });
    // More flushes than may wait: the last come when the atomic is done.
    thread.finish(&overlapping(), &mut below);
    assert_eq!(below.flushes().len(), 11);
}

#[test]
fn an_atomic_behind_a_flush_holds_up_dispatch() {
    let mut below = Mock::owning([0, 2]);
    let thread = Thread::default().store(2).clwb(2).atomic(0).load(3);
    thread.run(&overlapping(), &mut below);
    // The flush is sent at 2 and taken at 82.
    assert_eq!(below.loads(), [(83, Call::Load(3))]);
}

#[test]
fn fences_wait_for_atomics() {
    for kind in [FenceKind::Store, FenceKind::Full, FenceKind::Load] {
        let thread = Thread::default().atomic(1).fence(kind);
        let core = thread.run(&overlapping(), &mut Mock::default());
        assert_eq!(now(&core), 50, "{kind:?}");
    }
}
