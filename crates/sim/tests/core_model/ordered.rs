//! TSO: the store buffer.

use prestore_sim::Cause;

use crate::machine::tso;
use crate::mock::{Call, Mock, Thread, now, ns};

#[test]
fn stores_drain_in_order_one_a_cycle() {
    let mut below = Mock::owning([2, 3]);
    // Line 1 has to be asked for; what follows could go at once, but waits.
    Thread::default()
        .store(1)
        .store(2)
        .store(3)
        .finish(&tso(), &mut below);
    let bytes = 0xff;
    assert_eq!(
        below.writes(),
        [
            (50, Call::Write(1, bytes)),
            (51, Call::Write(2, bytes)),
            (52, Call::Write(3, bytes)),
        ]
    );
}

#[test]
fn the_oldest_stores_ask_ahead_and_no_others() {
    let mut machine = tso();
    machine.core.store_buffer.rfo_ahead = 2;
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .store(2)
        .store(3)
        .store(4)
        .finish(&machine, &mut below);
    let asked: Vec<u64> = below.owns().iter().map(|(at, _)| *at).collect();
    // The third asks when the first has drained (50), the fourth when the second has (51).
    assert_eq!(asked, [0, 1, 50, 51]);
    let drained: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    assert_eq!(drained, [50, 51, 100, 101]);
}

#[test]
fn only_so_many_lines_are_asked_for_at_once() {
    let mut machine = tso();
    machine.core.store_buffer.rfo_ahead = 4;
    machine.core.store_buffer.rfo_lines = Some(2);
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .store(1)
        .store(2)
        .store(3)
        .finish(&machine, &mut below);
    let asked: Vec<u64> = below.owns().iter().map(|(at, _)| *at).collect();
    // The second store has its line with the first; the last line waits for the first to come.
    assert_eq!(asked, [0, 2, 50]);
    let drained: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    assert_eq!(drained, [50, 51, 52, 100]);
}

#[test]
fn without_asking_ahead_stores_are_serial() {
    let mut machine = tso();
    machine.core.store_buffer.rfo_ahead = 1;
    let mut below = Mock::default();
    let (_, end) = Thread::default()
        .store(1)
        .store(2)
        .store(3)
        .finish(&machine, &mut below);
    assert_eq!(end, 150);
}

#[test]
fn stores_to_one_line_ask_once() {
    let mut below = Mock::default();
    let thread = Thread::default()
        .store_at(64, 8)
        .store_at(72, 8)
        .store_at(80, 8);
    thread.finish(&tso(), &mut below);
    assert_eq!(below.owns(), [(0, Call::Own(1, false))]);
    let drained: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    assert_eq!(drained, [50, 51, 52]);
}

#[test]
fn a_full_store_buffer_stalls_until_its_oldest_has_drained() {
    let mut machine = tso();
    machine.core.store_buffer.entries = 2;
    let mut below = Mock::default();
    let core = Thread::default()
        .store(1)
        .store(2)
        .store(3)
        .run(&machine, &mut below);
    // The third dispatches at 2; the first drains at 50.
    assert_eq!(now(&core), 50);
    assert_eq!(core.results().stalls.of(Cause::StoreBuffer), ns(48));
}

#[test]
fn stores_retire_behind_older_loads() {
    let mut below = Mock::owning([1]);
    Thread::default()
        .load(9)
        .store(1)
        .finish(&tso(), &mut below);
    assert_eq!(below.writes(), [(100, Call::Write(1, 0xff))]);
}

#[test]
fn fill_buffers_bound_what_is_asked_for_at_once() {
    let mut machine = tso();
    machine.core.fill_buffers = 1;
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .store(2)
        .finish(&machine, &mut below);
    let asked: Vec<u64> = below.owns().iter().map(|(at, _)| *at).collect();
    assert_eq!(asked, [0, 50]);
}

#[test]
fn a_store_across_lines_is_two() {
    let mut below = Mock::owning([0, 1]);
    let (core, _) = Thread::default().store_at(60, 8).finish(&tso(), &mut below);
    assert_eq!(
        below.writes(),
        [(0, Call::Write(0, 0xf << 60)), (1, Call::Write(1, 0xf))]
    );
    assert_eq!(core.results().ops.stores, 1);
    assert_eq!(core.results().drains, 2);
}

#[test]
fn a_line_taken_away_in_the_meantime_holds_up_those_behind_it() {
    let mut below = Mock::owning([0, 2]);
    // The flush of line 0 comes between the two stores to it, and does not keep it.
    let mut machine = tso();
    machine.core.clwb_retains = false;
    let thread = Thread::default().store(0).clwb(0).load(9).store(0).store(2);
    thread.finish(&machine, &mut below);
    let drained: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    // The load is done at 103; the line is asked for then, and there at 153.
    assert_eq!(drained, [0, 153, 154]);
}

#[test]
fn several_may_drain_a_cycle() {
    let mut machine = tso();
    machine.core.stores_per_cycle = 2.0;
    let mut below = Mock::owning([0, 1]);
    let thread = Thread::default()
        .load(9)
        .store(0)
        .store(1)
        .store(0)
        .store(1);
    thread.finish(&machine, &mut below);
    // All have retired at 100.
    let drained: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    assert_eq!(drained, [100, 100, 101, 101]);
}

#[test]
fn a_string_instruction_may_leave_whole_lines_unread() {
    let mut machine = tso();
    let string = Thread::default().store_at(32, 160);
    let mut below = Mock::default();
    string.finish(&machine, &mut below);
    let read: Vec<Call> = below.owns().iter().map(|(_, call)| *call).collect();
    let all = [
        Call::Own(0, false),
        Call::Own(1, false),
        Call::Own(2, false),
    ];
    assert_eq!(read, all);

    machine.core.strings.unread = true;
    let mut below = Mock::default();
    string.finish(&machine, &mut below);
    let read: Vec<Call> = below.owns().iter().map(|(_, call)| *call).collect();
    // The first line is overwritten by half.
    let all = [Call::Own(0, false), Call::Own(1, true), Call::Own(2, true)];
    assert_eq!(read, all);
}

#[test]
fn a_string_instruction_may_wait_for_flushes() {
    let mut machine = tso();
    machine.core.strings.after_flushes = true;
    let mut below = Mock::owning([0, 1, 2, 3]);
    let thread = Thread::default().clwb(3).store(3).store_at(0, 192);
    let core = thread.run(&machine, &mut below);
    // The flush goes at 1 and is taken at 81; a single store does not wait.
    assert_eq!(now(&core), 81);
    assert_eq!(core.results().stalls.of(Cause::Flush), ns(78));
}
