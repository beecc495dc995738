//! Weak: the merging write buffer.

use prestore_machine::quantity::Cycles;
use prestore_sim::Cause;
use prestore_trace::FlushKind;

use crate::machine::weak;
use crate::mock::{Call, Mock, Thread, now, ns};

#[test]
fn stores_to_a_held_line_are_one_drain() {
    let mut below = Mock::default();
    let thread = Thread::default().store_at(64, 8).store_at(72, 8).sfence();
    let core = thread.run(&weak(), &mut below);
    assert_eq!(below.writes(), [(52, Call::Write(1, 0xffff))]);
    assert_eq!(core.results().merged, 1);
    // Fence at 2, ownership 50, drain 10.
    assert_eq!(now(&core), 62);
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(60));
}

#[test]
fn a_line_written_whole_is_owned_without_reading_it() {
    let mut below = Mock::default();
    Thread::default()
        .store_at(64, 64)
        .sfence()
        .run(&weak(), &mut below);
    assert_eq!(below.owns(), [(1, Call::Own(1, true))]);
}

#[test]
fn lines_are_held_until_something_asks_for_them() {
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .work(100_000)
        .load(9)
        .run(&weak(), &mut below);
    assert_eq!(below.owns(), []);
}

#[test]
fn a_line_leaves_when_its_timer_runs_out() {
    let mut machine = weak();
    machine.core.store_buffer.timeout = Some(Cycles(200.0));
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .store(1)
        .work(1000)
        .load(9)
        .run(&machine, &mut below);
    assert_eq!(below.owns(), [(200, Call::Own(1, false))]);
}

#[test]
fn merging_restarts_the_timer_where_the_machine_does() {
    let mut machine = weak();
    machine.core.store_buffer.timeout = Some(Cycles(200.0));
    machine.core.store_buffer.merge_restarts_timer = true;
    let mut below = Mock::default();
    let thread = Thread::default()
        .store(1)
        .work(99)
        .store(1)
        .work(1000)
        .load(9);
    thread.run(&machine, &mut below);
    assert_eq!(below.owns(), [(300, Call::Own(1, false))]);
}

#[test]
fn at_its_threshold_the_buffer_drains_its_oldest_line() {
    let mut machine = weak();
    machine.core.store_buffer.drain_at = Some(3);
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .store(2)
        .store(3)
        .work(9)
        .load(9)
        .run(&machine, &mut below);
    assert_eq!(below.owns(), [(2, Call::Own(1, false))]);
    assert_eq!(core.results().stalls.of(Cause::StoreBuffer), ns(0));
}

#[test]
fn a_store_stalls_only_when_no_entry_is_free() {
    let mut machine = weak();
    machine.core.store_buffer.entries = 2;
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .store(2)
        .store(2)
        .store(3)
        .run(&machine, &mut below);
    // The fourth store comes at 3: line 1 has to go, which takes 60.
    assert_eq!(now(&core), 63);
    assert_eq!(core.results().stalls.of(Cause::StoreBuffer), ns(60));
}

#[test]
fn a_fence_drains_as_many_at_once_as_the_machine_can() {
    let thread = Thread::default().store(1).store(2).store(3).sfence();
    let mut machine = weak();
    let mut below = Mock::default();
    assert_eq!(now(&thread.run(&machine, &mut below)), 3 + 3 * 60);
    machine.core.store_buffer.drain_parallel = 2;
    let mut below = Mock::default();
    assert_eq!(now(&thread.run(&machine, &mut below)), 3 + 2 * 60);
}

#[test]
fn what_a_fence_drains_may_go_through_ways_of_its_own() {
    let mut machine = weak();
    machine.core.store_buffer.drain_parallel = 2;
    machine.core.store_buffer.fence_parallel = Some(1);
    let mut below = Mock::default();
    let fenced = Thread::default().store(1).store(2).store(3).sfence();
    assert_eq!(now(&fenced.run(&machine, &mut below)), 3 + 3 * 60);
    // Lines that go because there are too many still overlap: the second does not wait for the first,
    // which is in the cache at 61.
    machine.core.store_buffer.drain_at = Some(2);
    let mut below = Mock::default();
    let crowded = Thread::default().store(1).store(2).store(3).store(4);
    crowded.run(&machine, &mut below);
    let owned: Vec<u64> = below.owns().iter().map(|&(at, _)| at).collect();
    assert_eq!(owned, [1, 2]);
}

#[test]
fn a_demoted_line_leaves_the_buffer_in_the_background() {
    let mut below = Mock::default();
    let thread = Thread::default().store(1).demote(1).work(20).sfence();
    let core = thread.run(&weak(), &mut below);
    // Demoted at 1, one cycle of issue, on its way at 2, in the cache at 62; the fence comes at 23
    // and waits for what remains.
    assert_eq!(below.owns(), [(2, Call::Own(1, false))]);
    assert_eq!(now(&core), 62);
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(39));
}

#[test]
fn a_line_demoted_early_enough_costs_the_fence_nothing() {
    let mut below = Mock::default();
    let thread = Thread::default().store(1).demote(1).work(60).sfence();
    let core = thread.run(&weak(), &mut below);
    assert_eq!(core.results().stalls.total(), ns(0));
}

#[test]
fn lines_that_are_asked_for_need_not_wait_for_each_other() {
    let mut machine = weak();
    let thread = Thread::default().store(1).store(2).demote(1).demote(2);
    let mut below = Mock::default();
    assert_eq!(
        now(&thread.clone().sfence().run(&machine, &mut below)),
        3 + 2 * 60
    );
    machine.core.store_buffer.push_parallel = Some(2);
    let mut below = Mock::default();
    // The first demote is on its way at 3, the second at 5: an instruction and a cycle of issue.
    assert_eq!(now(&thread.sfence().run(&machine, &mut below)), 5 + 60);
}

#[test]
fn a_store_behind_a_draining_part_of_its_line_drains_after_it() {
    let mut machine = weak();
    machine.core.store_buffer.drain_parallel = 2;
    let mut below = Mock::default();
    let thread = Thread::default()
        .store(1)
        .demote(1)
        .work(3)
        .store_at(72, 8)
        .sfence();
    let core = thread.run(&machine, &mut below);
    assert_eq!(
        below.writes(),
        [(52, Call::Write(1, 0xff)), (62, Call::Write(1, 0xff00))]
    );
    assert_eq!(now(&core), 72);
}

#[test]
fn a_flush_goes_when_its_line_has_left_the_buffer() {
    let mut below = Mock::default();
    let thread = Thread::default()
        .store(1)
        .flush(1, FlushKind::Clwb)
        .sfence();
    let core = thread.run(&weak(), &mut below);
    // The line goes at 2 and is in the cache at 62.
    assert_eq!(
        below.flushes(),
        [(62, Call::Flush(1, FlushKind::DcCvac, true))]
    );
    assert_eq!(now(&core), 142);
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(59));
    assert_eq!(core.results().stalls.of(Cause::FenceFlushes), ns(80));
}
