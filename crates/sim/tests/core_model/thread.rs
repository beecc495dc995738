//! What threads do to each other, and their end.

use prestore_sim::{Cause, Core};

use crate::machine::{tso, weak};
use crate::mock::{Mock, Thread, now, ns};

#[test]
fn what_is_handed_over_is_visible_when_it_is_in_the_cache() {
    let mut below = Mock::default();
    let mut core = Thread::default().store(1).run(&tso(), &mut below);
    assert_eq!(core.visible_at(&mut below), ns(50));
    assert_eq!(now(&core), 0);
}

#[test]
fn a_weak_core_lets_go_of_what_it_hands_over() {
    let mut below = Mock::default();
    let mut core = Thread::default().store(1).run(&weak(), &mut below);
    assert_eq!(core.visible_at(&mut below), ns(60));
}

#[test]
fn non_temporal_data_is_visible_when_it_is_taken() {
    let mut below = Mock::default();
    let mut core = Thread::default().nt_store_at(0, 8).run(&tso(), &mut below);
    assert_eq!(core.visible_at(&mut below), ns(60));
}

#[test]
fn waiting_for_a_thread_is_a_stall_of_its_own() {
    let mut core = Core::new(0, &tso());
    core.wait_until(ns(70));
    core.wait_until(ns(30));
    assert_eq!(now(&core), 70);
    assert_eq!(core.results().stalls.of(Cause::Await), ns(70));
}

#[test]
fn a_thread_ends_when_all_it_left_is_done() {
    let mut below = Mock::default();
    let (core, end) = Thread::default()
        .load(1)
        .store(2)
        .work(10)
        .finish(&tso(), &mut below);
    assert_eq!(end, 150);
    assert_eq!(core.results().stalls.of(Cause::End), ns(138));
    assert_eq!(core.results().instructions, 12);
}

/// So that stores of other threads, which come earlier, find free what lies below the cores.
#[test]
fn what_a_thread_leaves_behind_goes_when_it_is_due() {
    let mut below = Mock::default();
    let thread = (0..6).fold(Thread::default(), Thread::store);
    let mut core = thread.run(&tso(), &mut below);
    let mut steps = 0;
    while core.wind_down(6, core.now(), &mut below) {
        let last = below.calls.iter().map(|(at, _)| *at).max();
        assert!(
            last <= Some(core.now()),
            "{:?}, {:?}",
            below.calls,
            core.now()
        );
        steps += 1;
    }
    assert!(steps > 1, "{steps}");
    assert_eq!(below.writes().len(), 6);
    let ended = core.now();
    assert!(core.finish(6, &mut below) >= ended);
}
