//! Flushes and demotions.

use prestore_machine::Demote;
use prestore_machine::quantity::Nanos;
use prestore_sim::Cause;
use prestore_trace::FlushKind::{Clflush, Clflushopt, Clwb, DcCvap};

use crate::machine::tso;
use crate::mock::{Call, Mock, Thread, now, ns};

fn times(calls: &[(u64, Call)]) -> Vec<u64> {
    calls.iter().map(|(at, _)| *at).collect()
}

#[test]
fn a_flush_costs_its_issue_and_nothing_more() {
    let mut below = Mock::owning([0]);
    let core = Thread::default().clwb(0).run(&tso(), &mut below);
    assert_eq!(now(&core), 1);
    assert_eq!(core.results().issue, ns(1));
}

#[test]
fn a_flush_waits_for_the_store_to_its_line() {
    let mut below = Mock::default();
    let (core, end) = Thread::default()
        .store(0)
        .clwb(0)
        .finish(&tso(), &mut below);
    assert_eq!(below.flushes(), [(50, Call::Flush(0, Clwb, true))]);
    assert_eq!(end, 130);
    assert_eq!(core.results().flushed_dirty, 1);
}

#[test]
fn a_flush_does_not_wait_for_other_stores() {
    let mut below = Mock::owning([0]);
    Thread::default()
        .store(1)
        .flush(0, Clflushopt)
        .finish(&tso(), &mut below);
    assert_eq!(below.flushes(), [(2, Call::Flush(0, Clflushopt, false))]);
}

#[test]
fn flushes_of_several_lines_overlap() {
    let mut below = Mock::owning([0, 1]);
    let thread = Thread::default()
        .flush(0, Clflushopt)
        .flush(1, Clflushopt)
        .sfence();
    let core = thread.run(&tso(), &mut below);
    assert_eq!(times(&below.flushes()), [1, 3]);
    assert_eq!(now(&core), 83);
}

#[test]
fn clflushes_are_serial() {
    let mut below = Mock::owning([0, 1]);
    let thread = Thread::default()
        .flush(0, Clflush)
        .flush(1, Clflush)
        .sfence();
    let core = thread.run(&tso(), &mut below);
    assert_eq!(times(&below.flushes()), [1, 81]);
    assert_eq!(now(&core), 161);
}

#[test]
fn a_clflush_keeps_its_place_among_stores() {
    let mut below = Mock::owning([0, 2]);
    Thread::default()
        .store(1)
        .flush(0, Clflush)
        .store(2)
        .finish(&tso(), &mut below);
    // Line 1 is there at 50, the flush follows and is taken at 131, the store comes after it.
    assert_eq!(below.flushes(), [(51, Call::Flush(0, Clflush, false))]);
    assert_eq!(times(&below.writes()), [50, 131]);
}

#[test]
fn where_flushes_leave_in_order_all_are_as_clflush_is() {
    let mut machine = tso();
    machine.core.store_buffer.flushes_in_order = true;
    for kind in [Clflushopt, Clwb] {
        let mut below = Mock::owning([0, 2, 3]);
        let thread = Thread::default()
            .store(1)
            .flush(0, kind)
            .store(2)
            .flush(3, kind)
            .sfence();
        let core = thread.run(&machine, &mut below);
        // Line 1 is there at 50, the flush follows and is acknowledged at 131; then the store, then the flush behind it.
        assert_eq!(times(&below.flushes()), [51, 132], "{kind:?}");
        assert_eq!(times(&below.writes()), [50, 131], "{kind:?}");
        assert_eq!(now(&core), 212, "{kind:?}");
    }
}

#[test]
fn a_second_flush_of_a_line_waits_until_the_first_is_taken() {
    let mut below = Mock::owning([0]);
    let thread = Thread::default().store(0).clwb(0).store(0).clwb(0);
    let (core, end) = thread.finish(&tso(), &mut below);
    assert_eq!(times(&below.flushes()), [2, 82]);
    assert_eq!(end, 162);
    // The store in between did not wait.
    assert_eq!(times(&below.writes()), [0, 3]);
    assert_eq!(core.results().flushed_dirty, 2);
}

#[test]
fn a_store_to_a_line_that_a_flush_takes_away_asks_for_it_when_that_is_taken() {
    let mut below = Mock::owning([0, 1]);
    let thread = Thread::default()
        .flush(0, Clflushopt)
        .work(10)
        .store(0)
        .store(1);
    thread.finish(&tso(), &mut below);
    assert_eq!(times(&below.flushes()), [1]);
    // Taken at 81, the line is there 50 later; the store behind it follows in its cycle.
    assert_eq!(below.owns(), [(81, Call::Own(0, false))]);
    assert_eq!(times(&below.writes()), [131, 132]);
}

#[test]
fn a_flush_takes_a_fill_buffer_until_it_is_taken() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    let mut below = Mock::owning([0]);
    let core = Thread::default()
        .clwb(0)
        .work(5)
        .load(9)
        .run(&machine, &mut below);
    assert_eq!(below.loads(), [(81, Call::Load(9))]);
    assert_eq!(core.results().stalls.of(Cause::FillBuffers), ns(74));
}

#[test]
fn flushes_may_have_buffers_of_their_own() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    machine.core.flush_buffers = Some(2);
    let mut below = Mock::owning([0, 1, 2]);
    let thread = Thread::default().clwb(0).clwb(1).clwb(2).load(9);
    let core = thread.finish(&machine, &mut below).0;
    // The third waits for the first, the load for none of them.
    assert_eq!(times(&below.flushes()), [1, 3, 81]);
    assert_eq!(times(&below.loads()), [6]);
    assert_eq!(core.results().stalls.of(Cause::FillBuffers), ns(0));
}

#[test]
fn a_flush_may_leave_its_buffer_before_it_is_taken() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    machine.core.flush_hold = Some(Nanos(10.0));
    let mut below = Mock::owning([0, 1]);
    let thread = Thread::default().clwb(0).clwb(1).clwb(0);
    let (_, end) = thread.finish(&machine, &mut below);
    // The second waits for the buffer, the third for the flush of its own line.
    assert_eq!(times(&below.flushes()), [1, 11, 81]);
    assert_eq!(end, 161);
    let mut below = Mock::owning([0]);
    let thread = Thread::default().clwb(0).work(5).load(9);
    thread.finish(&machine, &mut below);
    assert_eq!(times(&below.loads()), [11]);
}

#[test]
fn too_many_waiting_flushes_stall() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    machine.core.store_buffer.entries = 2;
    let mut below = Mock::owning([0, 1, 2, 3]);
    let core = Thread::default()
        .clwb(0)
        .clwb(1)
        .clwb(2)
        .clwb(3)
        .run(&machine, &mut below);
    // Issued at 1, 3, 5, 7: one is under way, two wait, the fourth finds room at 81.
    assert_eq!(now(&core), 81);
    assert_eq!(core.results().stalls.of(Cause::Flush), ns(74));
}

#[test]
fn a_missing_flush_acts_as_the_nearest() {
    let mut below = Mock::owning([0]);
    let thread = Thread::default().flush(0, DcCvap);
    thread.finish(&tso(), &mut below);
    assert_eq!(below.flushes(), [(1, Call::Flush(0, Clwb, true))]);
}

#[test]
fn a_demotion_waits_for_the_store_to_its_line() {
    let mut below = Mock::default();
    let (_, end) = Thread::default()
        .store(0)
        .demote(0)
        .finish(&tso(), &mut below);
    let demotes = below.calls(|c| matches!(c, Call::Demote(_)));
    assert_eq!(demotes, [(50, Call::Demote(0))]);
    assert_eq!(end, 50);
}

#[test]
fn where_demotions_do_nothing_they_cost_their_issue() {
    let mut machine = tso();
    machine.core.demote = Demote::Nop;
    let mut below = Mock::owning([0]);
    let (core, end) = Thread::default().demote(0).finish(&machine, &mut below);
    assert_eq!(below.calls, []);
    assert_eq!(core.results().ops.demotes, 1);
    assert_eq!(end, 2);
}

#[test]
fn demotions_take_buffers_for_as_long_as_the_machine_says() {
    let mut machine = tso();
    machine.core.fill_buffers = 2;
    machine.core.demote_hold = Some(Nanos(80.0));
    let mut below = Mock::owning([0, 1, 2]);
    let stores = Thread::default().store(0).store(1).store(2);
    stores
        .demote(0)
        .demote(1)
        .demote(2)
        .finish(&machine, &mut below);
    let went = below.calls(|c| matches!(c, Call::Demote(_)));
    let times: Vec<u64> = went.iter().map(|(at, _)| *at).collect();
    // Issued in cycles 3, 5 and 7 and dispatched one later; the third has the buffer of the first.
    assert_eq!(times, [4, 6, 84]);
}

#[test]
fn a_younger_store_to_the_line_leaves_behind_the_flush_that_waits() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    machine.core.clwb_retains = false;
    machine.core.store_buffer.leaves_when_granted = true;
    let mut below = Mock::owning([1, 2]);
    let stores = Thread::default().store(1).store(2);
    stores.clwb(1).clwb(2).store(2).finish(&machine, &mut below);
    // The first flush has the only buffer until it is taken.
    let flushed: Vec<u64> = below.flushes().iter().map(|(at, _)| *at).collect();
    assert_eq!(flushed, [3, 83]);
    let last = *below.writes().last().unwrap();
    assert!(last.0 >= 83, "{last:?}");
}
