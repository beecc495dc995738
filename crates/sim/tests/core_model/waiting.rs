//! Loads at addresses that other loads bring.

use prestore_sim::{Cause, ServedBy};

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread, ns};

const PEER: Cause = Cause::Load(ServedBy::Peer);

/// Nodes of a list, and others that do not depend on them.
#[test]
fn a_chain_takes_one_latency_after_the_other_and_holds_up_nothing_else() {
    let mut below = Mock::default();
    let (_, end) = Thread::default()
        .load(1)
        .load_after(2, 1)
        .load(3)
        .load_after(4, 2)
        .finish(&tso(), &mut below);
    let calls = [
        (0, Call::Load(1)),
        (2, Call::Load(3)),
        (100, Call::Load(2)),
        (200, Call::Load(4)),
    ];
    assert_eq!(below.loads(), calls);
    assert_eq!(end, 300);
}

#[test]
fn several_wait_for_one() {
    let mut below = Mock::default();
    let (core, end) = Thread::default()
        .load(1)
        .load_after(2, 1)
        .load_after(3, 2)
        .finish(&tso(), &mut below);
    let calls = [
        (0, Call::Load(1)),
        (100, Call::Load(2)),
        (100, Call::Load(3)),
    ];
    assert_eq!(below.loads(), calls);
    assert_eq!((end, core.results().ops.loads), (200, 3));
}

#[test]
fn the_reorder_window_stalls_behind_a_load_that_waits() {
    let mut machine = tso();
    machine.core.rob = 16;
    let mut below = Mock::default();
    let core = Thread::default()
        .load(1)
        .load_after(2, 1)
        .work(15)
        .load(3)
        .run(&machine, &mut below);
    // The third may dispatch when the second, 16 instructions before, is done.
    let calls = [
        (0, Call::Load(1)),
        (100, Call::Load(2)),
        (200, Call::Load(3)),
    ];
    assert_eq!(below.loads(), calls);
    assert_eq!(core.results().stalls.of(PEER), ns(183));
}

#[test]
fn a_store_does_not_retire_before_a_load_that_waits() {
    for mut machine in [tso(), weak()] {
        machine.core.rob = 64;
        let mut below = Mock::owning([9]);
        Thread::default()
            .load(1)
            .load_after(2, 1)
            .store(9)
            .fence(prestore_trace::FenceKind::Store)
            .finish(&machine, &mut below);
        let writes: Vec<u64> = below.writes().iter().map(|(at, _)| *at).collect();
        assert_eq!(writes, [200], "{:?}", machine.core.memory_model);
    }
}

/// As unoptimised code has it: a pointer is stored to the stack and loaded again.
#[test]
fn what_is_forwarded_comes_with_the_load_that_was_stored() {
    let mut below = Mock::owning([9]);
    Thread::default()
        .load(1)
        .store_after(9, 1)
        .load(9)
        .load_after(2, 1)
        .finish(&tso(), &mut below);
    // Forwarded as fast as the nearest cache answers, in 4 cycles.
    assert_eq!(below.loads(), [(0, Call::Load(1)), (104, Call::Load(2))]);
}

#[test]
fn fences_and_flushes_wait_for_loads_that_wait() {
    let mut below = Mock::owning([9]);
    Thread::default()
        .load(1)
        .load_after(2, 1)
        .clwb(9)
        .finish(&tso(), &mut below);
    let flushed: Vec<u64> = below.flushes().iter().map(|(at, _)| *at).collect();
    assert_eq!(flushed, [200]);
    let core = Thread::default()
        .load(1)
        .load_after(2, 1)
        .fence(prestore_trace::FenceKind::Load)
        .run(&tso(), &mut Mock::default());
    assert_eq!(core.now(), ns(200));
}

#[test]
fn in_order_nothing_waits_beside_others() {
    let mut machine = tso();
    machine.core.rob = 0;
    let plain = Thread::default().load(1).load(2).load(3);
    let chain = Thread::default().load(1).load_after(2, 1).load_after(3, 1);
    let end = |thread: &Thread| thread.finish(&machine, &mut Mock::default()).1;
    assert_eq!(end(&plain), end(&chain));
}

/// Farther back than anything is remembered, and more at a time.
#[test]
fn many_that_wait_all_go() {
    let mut machine = tso();
    machine.core.rob = 512;
    let mut thread = Thread::default().load(0);
    for line in 1..3000 {
        thread = thread.load_after(line, if line % 2 == 0 { 1 } else { 2 });
    }
    let mut below = Mock::default();
    let (core, _) = thread.finish(&machine, &mut below);
    assert_eq!(core.results().ops.loads, 3000);
    assert_eq!(below.loads().len(), 3000);
    // Of each two, the first waits for the one before the other: half as many latencies.
    assert!(
        core.now() >= ns(150_000) && core.now() < ns(160_000),
        "{:?}",
        core.now()
    );
}
