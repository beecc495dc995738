//! Dispatch.

use prestore_sim::{Core, Time};

use crate::machine::tso;
use crate::mock::{Mock, Thread, now, ns};

#[test]
fn instructions_dispatch_at_the_pipelines_width() {
    let mut machine = tso();
    machine.core.width = 4.0;
    let core = Thread::default()
        .work(1000)
        .sfence()
        .run(&machine, &mut Mock::default());
    assert_eq!(now(&core), 250);
    assert_eq!(core.results().busy, ns(250));
}

#[test]
fn fractions_of_a_picosecond_are_not_lost() {
    let mut machine = tso();
    machine.core.clock.0 = 2.1;
    machine.core.width = 4.0;
    let mut below = Mock::default();
    let mut core = Core::new(0, &machine);
    let end = (1..=840_000).fold(Time::ZERO, |_, n| core.finish(n, &mut below));
    // 840 000 / 4 cycles at 2.1 GHz.
    assert!(end.0.abs_diff(ns(100_000).0) <= 1, "{end:?}");
}

#[test]
fn an_access_of_no_bytes_does_nothing() {
    let mut below = Mock::default();
    Thread::default()
        .store_at(0, 0)
        .load_at(0, 0)
        .finish(&tso(), &mut below);
    assert_eq!(below.calls, []);
}
