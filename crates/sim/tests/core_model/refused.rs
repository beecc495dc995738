//! Requests that who has the line refuses.

use prestore_trace::FenceKind;

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread, now};

fn refusing(line: u64, until: u64) -> Mock {
    let mut below = Mock::owning([1, 2]);
    below.refused.insert(line, until);
    below
}

#[test]
fn a_refused_store_asks_again_and_the_thread_goes_on() {
    let mut below = refusing(7, 300);
    let core = Thread::default().store(7).load(1).run(&tso(), &mut below);
    assert_eq!(now(&core), 1, "nothing waits for a store");
    let core = Thread::default()
        .store(7)
        .sfence()
        .run(&tso(), &mut refusing(7, 300));
    assert_eq!(now(&core), 350, "it owns the line 50 ns after it asked");
}

#[test]
fn it_asks_only_when_it_may() {
    for machine in [tso(), weak()] {
        let mut below = refusing(7, 300);
        Thread::default().store(7).finish(&machine, &mut below);
        assert_eq!(below.owns().len(), 1);
        assert_eq!(below.owns()[0].0, 300);
    }
}

#[test]
fn stores_behind_a_refused_one_wait_their_turn() {
    let mut below = refusing(7, 300);
    Thread::default()
        .store(7)
        .store(1)
        .finish(&tso(), &mut below);
    let lines: Vec<_> = below.writes().into_iter().map(|(_, call)| call).collect();
    assert_eq!(lines, [Call::Write(7, 0xff), Call::Write(1, 0xff)]);
}

#[test]
fn a_refused_load_waits() {
    let mut below = refusing(7, 300);
    Thread::default().load(7).run(&tso(), &mut below);
    assert_eq!(below.loads(), [(300, Call::Load(7))]);
}

#[test]
fn a_refused_atomic_waits_and_is_one_operation() {
    for machine in [tso(), weak()] {
        let mut below = refusing(7, 300);
        let core = Thread::default()
            .atomic(7)
            .fence(FenceKind::Full)
            .run(&machine, &mut below);
        assert_eq!(below.owns()[0].0, 300);
        assert_eq!(core.results().ops.atomics, 1);
    }
}
