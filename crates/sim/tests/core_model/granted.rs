//! Stores that leave once their line is granted, before its data has come.

use prestore_machine::Machine;
use prestore_sim::Cause;
use prestore_trace::FenceKind;

use crate::machine::tso;
use crate::mock::{Mock, Thread, now, ns};

fn early() -> Machine {
    let mut machine = tso();
    machine.core.store_buffer.leaves_when_granted = true;
    machine
}

#[test]
fn a_fence_waits_for_the_grant_and_not_for_the_data() {
    let mut below = Mock::default();
    let thread = Thread::default().store(1).fence(FenceKind::Full);
    let core = thread.run(&early(), &mut below);
    // Asked for at 0, granted at 20; its data would be there at 50.
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(19));
    let core = thread.run(&tso(), &mut Mock::default());
    assert_eq!(core.results().stalls.of(Cause::FenceStores), ns(49));
}

#[test]
fn a_load_of_other_bytes_waits_for_the_data() {
    let mut below = Mock::default();
    let core = Thread::default()
        .store_at(64, 8)
        .fence(FenceKind::Store)
        .load_at(96, 8)
        .fence(FenceKind::Load)
        .run(&early(), &mut below);
    assert_eq!(now(&core), 50);
}

#[test]
fn stores_to_a_line_under_way_leave_with_the_first() {
    let mut below = Mock::default();
    Thread::default()
        .store_at(64, 8)
        .store_at(72, 8)
        .store(2)
        .finish(&early(), &mut below);
    let left: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
    assert_eq!(left, [20, 21, 22]);
}

#[test]
fn the_fill_buffer_is_taken_until_the_data_comes() {
    let mut machine = early();
    machine.core.fill_buffers = 1;
    let mut below = Mock::default();
    Thread::default()
        .store(1)
        .store(2)
        .finish(&machine, &mut below);
    let asked: Vec<u64> = below.owns().iter().map(|(at, _)| *at).collect();
    assert_eq!(asked, [0, 50]);
}
