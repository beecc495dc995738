//! Loads: overlap, fill buffers, forwarding.

use prestore_machine::Machine;
use prestore_machine::quantity::Cycles;
use prestore_sim::{Cause, ServedBy};

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread, now, ns};

const PEER: Cause = Cause::Load(ServedBy::Peer);

#[test]
fn misses_inside_the_reorder_window_overlap() {
    let (core, end) = Thread::default()
        .load(1)
        .load(2)
        .finish(&tso(), &mut Mock::default());
    assert_eq!(end, 101);
    assert_eq!(core.results().stalls.of(PEER), ns(0));
}

#[test]
fn the_reorder_window_stalls_behind_its_oldest_load() {
    let mut machine = tso();
    machine.core.rob = 16;
    let mut below = Mock::default();
    let core = Thread::default()
        .load(1)
        .work(15)
        .load(2)
        .run(&machine, &mut below);
    // Instruction 16 may dispatch when instruction 0 is done.
    assert_eq!(below.loads(), [(0, Call::Load(1)), (100, Call::Load(2))]);
    assert_eq!(core.results().stalls.of(PEER), ns(84));
    let mut below = Mock::default();
    Thread::default()
        .load(1)
        .work(14)
        .load(2)
        .run(&machine, &mut below);
    assert_eq!(below.loads(), [(0, Call::Load(1)), (15, Call::Load(2))]);
}

#[test]
fn an_in_order_core_waits_for_each_load() {
    let mut machine = tso();
    machine.core.rob = 0;
    let core = Thread::default()
        .load(1)
        .load(2)
        .load(2)
        .run(&machine, &mut Mock::default());
    // Two misses and a hit, and a cycle to dispatch each next one.
    assert_eq!(now(&core), 100 + 1 + 100 + 1 + 4);
    assert_eq!(core.results().stalls.of(PEER), ns(200));
    assert_eq!(
        core.results().stalls.of(Cause::Load(ServedBy::Cache(0))),
        ns(4)
    );
}

#[test]
fn fill_buffers_bound_misses_under_way() {
    let mut machine = tso();
    machine.core.fill_buffers = 2;
    let mut below = Mock::default();
    let core = Thread::default()
        .load(1)
        .load(2)
        .load(3)
        .run(&machine, &mut below);
    assert_eq!(below.loads()[2], (100, Call::Load(3)));
    assert_eq!(core.results().stalls.of(Cause::FillBuffers), ns(98));
}

#[test]
fn hits_need_no_fill_buffer() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    let mut below = Mock::owning([7]);
    let core = Thread::default().load(1).load(7).run(&machine, &mut below);
    assert_eq!(now(&core), 1);
    assert_eq!(core.load_done(), ns(5));
}

#[test]
fn a_line_on_its_way_is_waited_for_and_not_fetched_again() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    let mut below = Mock::default();
    let core = Thread::default().load(1).load(1).run(&machine, &mut below);
    assert_eq!(core.load_done(), ns(100));
    assert_eq!(core.results().load_in_flight, 1);
    assert_eq!(core.results().stalls.total(), ns(0));
}

#[test]
fn a_load_waits_for_a_line_that_a_store_asked_for() {
    let core = Thread::default()
        .store_at(64, 8)
        .load_at(72, 8)
        .run(&tso(), &mut Mock::default());
    assert_eq!(core.load_done(), ns(50));
}

#[test]
fn load_ports_bound_loads_a_cycle() {
    let mut machine = tso();
    machine.core.width = 4.0;
    machine.core.rob = 4;
    let mut below = Mock::owning([1]);
    let mut thread = Thread::default();
    for _ in 0..100 {
        thread = thread.load(1);
    }
    thread.run(&machine, &mut below);
    let asked: Vec<u64> = below.loads().iter().map(|(at, _)| *at).collect();
    assert_eq!(asked, (0..100).collect::<Vec<u64>>());
}

#[test]
fn a_load_is_forwarded_from_the_store_buffer() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load_at(68, 4)
        .run(&tso(), &mut below);
    assert_eq!(below.loads(), []);
    assert_eq!(core.load_done(), ns(5));
    assert_eq!(core.results().load_forwarded, 1);
}

#[test]
fn a_load_is_forwarded_from_several_stores() {
    let mut below = Mock::default();
    let thread = Thread::default()
        .store_at(64, 8)
        .store_at(72, 8)
        .load_at(64, 16);
    let core = thread.run(&tso(), &mut below);
    assert_eq!(core.results().load_forwarded, 1);
}

#[test]
fn a_load_with_some_bytes_pending_waits_for_the_store() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load_at(64, 16)
        .run(&tso(), &mut below);
    assert_eq!(below.loads(), [(50, Call::Load(1))]);
    assert_eq!(core.results().stalls.of(Cause::StoreForward), ns(49));
}

#[test]
fn a_weak_core_forwards_from_its_write_buffer() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load_at(68, 4)
        .run(&weak(), &mut below);
    assert_eq!(below.calls, []);
    assert_eq!(core.load_done(), ns(5));
}

#[test]
fn a_weak_core_drains_a_line_that_has_not_all_bytes() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load_at(68, 8)
        .run(&weak(), &mut below);
    // Asked for at 1, in the cache 60 later, then read.
    assert_eq!(below.owns(), [(1, Call::Own(1, false))]);
    assert_eq!(below.loads(), [(61, Call::Load(1))]);
    assert_eq!(now(&core), 65);
}

#[test]
fn a_weak_core_reads_other_bytes_of_a_held_line_past_the_buffer() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .load_at(72, 8)
        .run(&weak(), &mut below);
    assert_eq!(below.owns(), []);
    assert_eq!(below.loads(), [(1, Call::Load(1))]);
    assert_eq!(now(&core), 1 + 100);
}

/// In order, a forwarded load is done only with its line.
fn with_line() -> Machine {
    let mut machine = tso();
    machine.core.rob = 0;
    machine.core.store_buffer.forward_misses = false;
    machine
}

#[test]
fn a_forwarded_load_may_have_to_wait_for_its_line() {
    let mut below = Mock::default();
    let thread = Thread::default().store(1).load(1);
    // The line is asked for at 0.
    assert_eq!(now(&thread.run(&with_line(), &mut below)), 50);
    let mut below = Mock::owning([1]);
    assert_eq!(now(&thread.run(&with_line(), &mut below)), 1 + 4);
}

#[test]
fn a_flush_between_store_and_load_takes_the_line_that_is_waited_for() {
    let mut machine = with_line();
    machine.core.clwb_retains = false;
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .clwb(1)
        .load(1)
        .run(&machine, &mut below);
    // The store leaves at 50, when its line comes, and the flush follows: the line is read again.
    assert_eq!(below.flushes().len(), 1);
    assert_eq!(below.loads(), [(3, Call::Load(1)), (50, Call::Load(1))]);
    assert_eq!(now(&core), 150);

    machine.core.clwb_retains = true;
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .clwb(1)
        .load(1)
        .run(&machine, &mut below);
    assert_eq!(now(&core), 50);
}

#[test]
fn a_load_of_several_stores_may_have_to_wait_for_them() {
    let mut machine = tso();
    machine.core.rob = 0;
    let thread = Thread::default()
        .store_at(64, 4)
        .store_at(68, 4)
        .load_at(64, 8);
    assert_eq!(now(&thread.run(&machine, &mut Mock::default())), 2 + 4);
    machine.core.store_buffer.merge = Some(Cycles(9.0));
    // The line is there at 50, and the second store leaves a cycle later.
    assert_eq!(now(&thread.run(&machine, &mut Mock::default())), 51 + 9);
    let one = Thread::default().store_at(64, 8).load_at(64, 8);
    assert_eq!(now(&one.run(&machine, &mut Mock::default())), 1 + 4);
}
