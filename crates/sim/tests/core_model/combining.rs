//! Non-temporal stores and their write-combining buffers.

use prestore_machine::WriteCombining;
use prestore_machine::quantity::Nanos;
use prestore_sim::{ByteMask, Cause};

use crate::machine::{combining, tso, weak};
use crate::mock::{Call, Mock, Thread, now, ns};

const WHOLE: ByteMask = u64::MAX as ByteMask;

#[test]
fn a_whole_line_goes_at_once() {
    let mut below = Mock::default();
    let core = Thread::default()
        .nt_store_at(0, 32)
        .nt_store_at(32, 32)
        .run(&tso(), &mut below);
    assert_eq!(below.arounds(), [(1, Call::Around(0, WHOLE))]);
    assert_eq!(now(&core), 1);
    assert_eq!(core.results().combined_whole, 1);
}

#[test]
fn a_partial_line_is_sent_with_its_mask_when_its_buffer_is_needed() {
    let mut below = Mock::default();
    let mut thread = Thread::default();
    for line in 0..5 {
        thread = thread.nt_store_at(line * 64 + 8, 4);
    }
    let (core, _) = thread.finish(&tso(), &mut below);
    // The fifth line comes at 4; the oldest is sent, and taken at 64. Nobody waits for that but the store: the
    // others are sent at the end, when it has its buffer.
    let sent: Vec<u64> = below.arounds().iter().map(|(at, _)| *at).collect();
    assert_eq!(sent, [4, 64, 64, 64, 64]);
    assert_eq!(below.arounds()[0].1, Call::Around(0, 0xf00));
    assert_eq!(core.results().stalls.of(Cause::WriteCombining), ns(0));
    assert_eq!(core.results().combined_partial, 5);
}

#[test]
fn whole_lines_wait_for_a_buffer_to_be_taken() {
    let mut machine = tso();
    machine.core.write_combining = Some(combining(2));
    let mut thread = Thread::default();
    for line in 0..3 {
        thread = thread.nt_store_at(line * 64, 64);
    }
    let mut below = Mock::default();
    thread.finish(&machine, &mut below);
    let sent: Vec<u64> = below.arounds().iter().map(|(at, _)| *at).collect();
    assert_eq!(sent, [0, 1, 60]);
}

#[test]
fn a_sent_line_is_on_its_way_after_the_buffers_delay() {
    let mut machine = tso();
    machine.core.write_combining = Some(WriteCombining {
        delay: Nanos(7.0),
        ..combining(2)
    });
    let mut below = Mock::default();
    Thread::default()
        .nt_store_at(0, 64)
        .run(&machine, &mut below);
    assert_eq!(below.arounds(), [(7, Call::Around(0, WHOLE))]);
}

/// Sends whole `lines`, one a cycle, to buffers that are taken at 60; of those that are still on their
/// way one goes 20 ns after the other. `waits`: how much later the first ones are taken.
fn rewritten(lines: &[u64], waits: &[u64]) -> Vec<u64> {
    let mut machine = tso();
    machine.core.write_combining = Some(WriteCombining {
        delay: Nanos(0.0),
        rewrite: Nanos(20.0),
        ..combining(4)
    });
    let mut below = Mock {
        around_waits: waits.iter().copied().collect(),
        ..Mock::default()
    };
    let thread = lines.iter().fold(Thread::default(), |thread, line| {
        thread.nt_store_at(line * 64, 64)
    });
    thread.finish(&machine, &mut below);
    below.arounds().iter().map(|(at, _)| *at).collect()
}

#[test]
fn lines_that_are_on_their_way_are_rewritten_one_after_the_other() {
    assert_eq!(rewritten(&[0, 0, 0], &[]), [0, 20, 40]);
    assert_eq!(rewritten(&[0, 1, 0, 1], &[]), [0, 1, 21, 41]);
    assert_eq!(
        rewritten(&[0, 0, 1], &[]),
        [0, 20, 21],
        "another line waits for none"
    );
}

#[test]
fn a_line_that_is_taken_is_rewritten_at_once() {
    // The first line is taken at 60, the others would go at 61 and 81.
    assert_eq!(rewritten(&[0, 1, 1, 1, 0], &[]), [0, 1, 21, 41, 60]);
}

#[test]
fn a_line_that_waits_for_an_entry_is_rewritten_as_much_later() {
    assert_eq!(rewritten(&[1, 0, 0], &[0, 30]), [0, 1, 51]);
}

#[test]
fn an_open_line_takes_a_fill_buffer() {
    let mut machine = tso();
    machine.core.fill_buffers = 2;
    let mut below = Mock::default();
    let core = Thread::default()
        .nt_store_at(0, 8)
        .load(1)
        .load(2)
        .run(&machine, &mut below);
    // One is left for the loads, which are therefore serial.
    assert_eq!(below.loads(), [(1, Call::Load(1)), (101, Call::Load(2))]);
    assert_eq!(core.results().stalls.of(Cause::FillBuffers), ns(99));
}

#[test]
fn buffers_of_their_own_leave_fill_buffers_to_loads() {
    let mut machine = tso();
    machine.core.fill_buffers = 2;
    machine.core.write_combining = Some(WriteCombining {
        shares_fill_buffers: false,
        ..combining(4)
    });
    let mut below = Mock::default();
    let core = Thread::default()
        .nt_store_at(0, 8)
        .load(1)
        .load(2)
        .run(&machine, &mut below);
    assert_eq!(below.loads(), [(1, Call::Load(1)), (2, Call::Load(2))]);
    assert_eq!(core.results().stalls.of(Cause::FillBuffers), ns(0));
}

/// What STREAM's loops do: between loads that miss, a non-temporal store has yet to wait for them.
#[test]
fn a_store_behind_a_miss_takes_no_buffer_before_its_turn() {
    let mut machine = tso();
    machine.core.fill_buffers = 2;
    let mut below = Mock::default();
    let core = Thread::default()
        .load(9)
        .nt_store_at(0, 8)
        .load(1)
        .run(&machine, &mut below);
    assert_eq!(below.loads(), [(0, Call::Load(9)), (2, Call::Load(1))]);
    assert_eq!(now(&core), 2);
}

#[test]
fn a_load_of_an_open_line_waits_until_that_is_sent() {
    let mut below = Mock::default();
    Thread::default()
        .nt_store_at(0, 8)
        .load(0)
        .run(&tso(), &mut below);
    assert_eq!(below.arounds(), [(1, Call::Around(0, 0xff))]);
    assert_eq!(below.loads(), [(61, Call::Load(0))]);
}

#[test]
fn a_load_of_a_sent_line_waits_until_that_is_taken() {
    let mut below = Mock::default();
    Thread::default()
        .nt_store_at(0, 64)
        .load(0)
        .load(1)
        .run(&tso(), &mut below);
    assert_eq!(below.arounds(), [(0, Call::Around(0, WHOLE))]);
    // Taken at 60; a load of another line does not wait.
    assert_eq!(below.loads(), [(60, Call::Load(0)), (2, Call::Load(1))]);
}

#[test]
fn a_store_to_an_open_line_comes_after_it() {
    let mut below = Mock::default();
    Thread::default()
        .nt_store_at(0, 8)
        .store(0)
        .finish(&tso(), &mut below);
    assert_eq!(below.arounds(), [(1, Call::Around(0, 0xff))]);
    assert_eq!(below.owns(), [(61, Call::Own(0, false))]);
}

#[test]
fn a_non_temporal_store_comes_after_a_store_to_its_line() {
    let mut below = Mock::default();
    Thread::default()
        .store(0)
        .nt_store_at(0, 64)
        .finish(&tso(), &mut below);
    assert_eq!(below.writes(), [(50, Call::Write(0, 0xff))]);
    assert_eq!(below.arounds(), [(50, Call::Around(0, WHOLE))]);
}

#[test]
fn non_temporal_stores_are_weakly_ordered() {
    // The store has to wait for its line.
    let mut below = Mock::default();
    Thread::default()
        .load(9)
        .store(1)
        .nt_store_at(0, 8)
        .nt_store_at(8, 56)
        .finish(&tso(), &mut below);
    let order: Vec<Call> = below
        .calls(|c| matches!(c, Call::Write(..) | Call::Around(..)))
        .iter()
        .map(|(_, call)| *call)
        .collect();
    assert_eq!(order, [Call::Around(0, WHOLE), Call::Write(1, 0xff)]);
}

#[test]
fn without_buffers_they_are_plain_stores() {
    let mut below = Mock::default();
    let (core, _) = Thread::default()
        .nt_store_at(0, 64)
        .finish(&weak(), &mut below);
    assert_eq!(below.arounds(), []);
    assert_eq!(below.owns(), [(1, Call::Own(0, true))]);
    assert_eq!(core.results().ops.nt_stores, 1);
}

#[test]
fn a_sent_buffer_may_be_free_before_its_data_is_taken() {
    let mut machine = tso();
    machine.core.write_combining = Some(WriteCombining {
        hold: Some(Nanos(5.0)),
        ..combining(1)
    });
    let mut below = Mock::default();
    let core = Thread::default()
        .nt_store_at(0, 64)
        .nt_store_at(64, 64)
        .load(0)
        .sfence()
        .run(&machine, &mut below);
    let sent: Vec<u64> = below.arounds().iter().map(|(at, _)| *at).collect();
    assert_eq!(sent, [0, 5]);
    // The load still waits for the data, and the fence for all of it.
    assert_eq!(below.loads(), [(60, Call::Load(0))]);
    assert_eq!(now(&core), 65);
}
