//! Fences and atomics: what they wait for, and what not.

use prestore_machine::Machine;
use prestore_machine::quantity::Cycles;
use prestore_sim::Cause;
use prestore_trace::FenceKind;

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread, now, ns};

#[test]
fn a_fence_waits_for_the_flush_and_not_one_cycle_more() {
    let mut below = Mock::owning([0]);
    let core = Thread::default()
        .store(0)
        .clwb(0)
        .sfence()
        .run(&tso(), &mut below);
    // Store at 0, flush issued in cycle 1, sent at 2, taken 80 later.
    assert_eq!(below.flushes()[0].0, 2);
    assert_eq!(now(&core), 82);
    assert_eq!(core.results().stalls.of(Cause::FenceFlushes), ns(79));
}

#[test]
fn a_demoted_line_costs_the_fence_nothing() {
    let mut below = Mock::owning([0]);
    let core = Thread::default()
        .store(0)
        .demote(0)
        .sfence()
        .run(&tso(), &mut below);
    assert_eq!(
        below.calls(|c| matches!(c, Call::Demote(0))),
        [(2, Call::Demote(0))]
    );
    assert_eq!(now(&core), 3);
    assert_eq!(core.results().stalls.total(), ns(0));
}

#[test]
fn a_store_fence_waits_for_stores_and_not_for_loads() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load(2)
        .sfence()
        .run(&tso(), &mut below);
    // The store asks at 0 and is there at 50; the load is done at 101.
    assert_eq!(now(&core), 50);
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(48));
}

#[test]
fn a_store_fence_has_a_cost_of_its_own_where_the_machine_says_so() {
    let mut machine = tso();
    machine.core.fence = Cycles(30.0);
    let after = |machine: &Machine, kind| {
        let thread = Thread::default().fence(kind);
        now(&thread.run(machine, &mut Mock::default()))
    };
    let full = after(&machine, FenceKind::Full);
    assert_eq!(after(&machine, FenceKind::Store), full);
    machine.core.store_fence = Some(Cycles(1.0));
    assert_eq!(after(&machine, FenceKind::Store) + 29, full);
    assert_eq!(after(&machine, FenceKind::Full), full);
}

#[test]
fn a_load_fence_waits_for_loads_and_not_for_stores() {
    let mut below = Mock::default();
    let thread = Thread::default().load(2).store(1).fence(FenceKind::Load);
    let core = thread.run(&tso(), &mut below);
    assert_eq!(now(&core), 100);
    assert_eq!(core.results().stalls.of(Cause::FenceLoads), ns(98));
}

#[test]
fn a_full_fence_waits_for_both_and_costs_its_own() {
    let mut machine = tso();
    machine.core.fence = prestore_machine::quantity::Cycles(33.0);
    let mut below = Mock::default();
    let thread = Thread::default().load(2).store(1).fence(FenceKind::Full);
    let core = thread.run(&machine, &mut below);
    // The store retires behind the load at 100 and asks for its line then.
    assert_eq!(below.owns(), [(100, Call::Own(1, false))]);
    assert_eq!(core.results().stalls.of(Cause::FenceLoads), ns(98));
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(50));
    assert_eq!(now(&core), 150 + 33);
}

#[test]
fn a_fence_with_nothing_pending_is_free_of_stalls() {
    let core = Thread::default().sfence().run(&tso(), &mut Mock::default());
    assert_eq!(core.results().stalls.total(), ns(0));
}

#[test]
fn a_fence_sends_partial_lines_and_waits_until_they_are_taken() {
    let mut below = Mock::default();
    let core = Thread::default()
        .nt_store_at(0, 8)
        .sfence()
        .run(&tso(), &mut below);
    assert_eq!(below.arounds(), [(1, Call::Around(0, 0xff))]);
    assert_eq!(now(&core), 61);
    assert_eq!(core.results().stalls.of(Cause::FenceFlushes), ns(60));
}

#[test]
fn an_atomic_of_an_owned_line_costs_what_it_costs() {
    let core = Thread::default()
        .atomic(0)
        .run(&tso(), &mut Mock::owning([0]));
    assert_eq!(now(&core), 18);
    assert_eq!(core.results().stalls.total(), ns(0));
}

#[test]
fn an_atomic_fetches_its_line_while_older_stores_drain() {
    let mut below = Mock::default();
    let core = Thread::default().store(1).atomic(0).run(&tso(), &mut below);
    // The store asks at 0, the atomic at 1; each takes 50.
    assert_eq!(
        below.owns(),
        [(0, Call::Own(1, false)), (1, Call::Own(0, false))]
    );
    assert_eq!(core.results().stalls.of(Cause::AtomicOrder), ns(49));
    assert_eq!(core.results().stalls.of(Cause::AtomicLine), ns(1));
    assert_eq!(now(&core), 51 + 18);
}

#[test]
fn a_weak_atomic_fetches_its_line_after_its_barrier() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .atomic(0)
        .run(&weak(), &mut below);
    // The held line is asked for at 1 and in the cache at 61.
    assert_eq!(
        below.owns(),
        [(1, Call::Own(1, false)), (61, Call::Own(0, false))]
    );
    assert_eq!(core.results().stalls.of(Cause::AtomicOrder), ns(60));
    assert_eq!(now(&core), 111 + 18);
}

#[test]
fn an_atomic_waits_for_flushes() {
    let mut below = Mock::owning([0, 1]);
    let core = Thread::default().clwb(1).atomic(0).run(&tso(), &mut below);
    // Sent at 1, taken at 81.
    assert_eq!(now(&core), 81 + 18);
}
