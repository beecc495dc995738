//! Critical sections exclude each other, in the order of simulated time.

use prestore_sim::{Cause, Finished, NoMechanism, Op, OpKind, Run, SHARED_LOCK, Source, Time};
use proptest::prelude::*;

use crate::loops::{PLAN, run};
use crate::mock::{
    Notes, Script, SlowCore, acquire, hand_off, load, ns, op, release, store, wait_for,
};

fn stalled(done: &Finished, thread: usize, cause: Cause) -> Time {
    let stalls = &done.measured.counts.threads[thread].stalls;
    stalls.get(&cause).copied().unwrap_or_default()
}

fn clock(done: &Finished, thread: usize) -> Time {
    done.measured.counts.threads[thread].clock
}

/// A section of `inside` nanoseconds, `before` nanoseconds after the start.
fn section(before: u32, inside: u32) -> Vec<Op> {
    vec![store(before), acquire(1), store(inside), release(1)]
}

#[test]
fn who_comes_second_waits_for_the_release() {
    let done = run(vec![section(10, 100), section(20, 100)], PLAN).unwrap();
    assert_eq!((clock(&done, 0), clock(&done, 1)), (ns(110), ns(210)));
    assert_eq!(
        (
            stalled(&done, 0, Cause::Lock),
            stalled(&done, 1, Cause::Lock)
        ),
        (ns(0), ns(90))
    );
    assert_eq!(stalled(&done, 1, Cause::Await), ns(0));
}

#[test]
fn simulated_time_decides_and_not_the_number() {
    let done = run(
        vec![section(20, 100), section(10, 100), section(15, 7)],
        PLAN,
    )
    .unwrap();
    // Thread 2 came before thread 0.
    assert_eq!(clock(&done, 1), ns(110));
    assert_eq!(clock(&done, 2), ns(117));
    assert_eq!(clock(&done, 0), ns(217));
}

#[test]
fn sections_of_different_locks_overlap() {
    let other = vec![store(20), acquire(2), store(100), release(2)];
    let done = run(vec![section(10, 100), other], PLAN).unwrap();
    assert_eq!(clock(&done, 1), ns(120));
}

/// Stores are visible 20 ns after they were made.
fn run_slow(threads: Vec<Vec<Op>>) -> Finished {
    let mut source = Script::new(threads);
    let core = |_| SlowCore {
        visible_after: ns(20),
        ..SlowCore::default()
    };
    let threads = (0..source.threads()).map(core);
    Run::new(
        &mut source,
        &mut NoMechanism,
        threads,
        Notes::default(),
        PLAN,
    )
    .finish()
    .unwrap()
}

#[test]
fn a_lock_is_free_when_its_release_is_visible() {
    let done = run_slow(vec![section(10, 100), section(20, 100), section(500, 1)]);
    assert_eq!(clock(&done, 1), ns(230));
    assert_eq!(clock(&done, 2), ns(501), "long ago");
}

/// It comes back before its release is visible, and another one waits already.
#[test]
fn who_comes_back_at_once_is_last() {
    let twice = [section(10, 100), section(0, 100)].concat();
    let done = run_slow(vec![twice, section(20, 100)]);
    assert_eq!(clock(&done, 1), ns(230));
    assert_eq!(clock(&done, 0), ns(350));
    assert_eq!(done.broken_locks, 0);
}

#[test]
fn who_comes_back_at_once_and_alone_waits_for_its_own_release() {
    let done = run_slow(vec![[section(10, 100), section(0, 100)].concat()]);
    assert_eq!(clock(&done, 0), ns(230));
}

#[test]
fn who_shares_has_it_at_once_and_nobody_else() {
    let read = |before| {
        vec![
            store(before),
            acquire(1 | SHARED_LOCK),
            store(100),
            release(1),
        ]
    };
    let done = run(vec![read(10), section(20, 100), read(30)], PLAN).unwrap();
    assert_eq!((clock(&done, 0), clock(&done, 2)), (ns(110), ns(130)));
    assert_eq!(clock(&done, 1), ns(230));
}

#[test]
fn a_thread_that_ends_leaves_its_locks() {
    let done = run(vec![vec![acquire(1), store(50)], section(5, 1)], PLAN).unwrap();
    assert_eq!(clock(&done, 1), ns(51));
    assert_eq!(done.broken_locks, 0);
}

#[test]
fn what_is_released_without_being_had_changes_nothing() {
    let lone = vec![store(1), release(1), store(300), release(1)];
    let done = run(vec![lone, section(10, 100), section(20, 100)], PLAN).unwrap();
    assert_eq!(clock(&done, 2), ns(210));
}

#[test]
fn threads_that_have_each_others_locks_go_on_in_the_end() {
    let one = vec![
        acquire(1),
        store(10),
        acquire(2),
        store(1),
        release(2),
        release(1),
    ];
    let two = vec![
        acquire(2),
        store(20),
        acquire(1),
        store(1),
        release(1),
        release(2),
    ];
    let done = run(vec![one, two], PLAN).unwrap();
    assert_eq!(done.broken_locks, 1);
    assert_eq!(clock(&done, 0), ns(11), "it waited first");
}

#[test]
fn a_hand_off_inside_a_section_is_awaited_inside_another_ones() {
    let producer = vec![store(5), acquire(1), store(10), hand_off(1), release(1)];
    let consumer = vec![wait_for(1), acquire(1), load(2), release(1)];
    let done = run(vec![consumer, producer], PLAN).unwrap();
    assert_eq!(clock(&done, 0), ns(17));
}

/// Threads that work and take a few locks, one at a time.
fn any_threads() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let step = (0u64..3, 1u32..40, 1u32..40).prop_map(|(lock, outside, inside)| {
        vec![
            store(outside),
            acquire(lock),
            op(OpKind::Load, lock, inside),
            release(lock),
        ]
    });
    let thread = prop::collection::vec(step, 1..20).prop_map(|steps| steps.concat());
    prop::collection::vec(thread, 2..5)
}

proptest! {
    #[test]
    fn sections_never_overlap(threads in any_threads()) {
        let mut loads = Vec::new();
        let total: usize = threads.iter().flatten().filter(|op| op.kind == OpKind::Load).count();
        let sections: Vec<Vec<Op>> = threads.iter()
            .map(|ops| ops.iter().filter(|op| op.kind == OpKind::Load).copied().collect())
            .collect();
        let mut source = Script::new(threads);
        let cores = (0..source.threads()).map(|_| SlowCore::default());
        let below = Notes { loads: Some(&mut loads) };
        let done = Run::new(&mut source, &mut NoMechanism, cores, below, PLAN).finish().unwrap();
        prop_assert_eq!(done.broken_locks, 0);
        prop_assert_eq!(loads.len(), total);
        // Each load is the inside of a section: from when it was called, as long as its size says.
        let mut next = vec![0; sections.len()];
        let mut free = [Time::ZERO; 3];
        loads.sort_by_key(|(thread, at)| (*at, *thread));
        for (thread, at) in loads {
            let t = thread as usize;
            let inside = sections[t][next[t]];
            next[t] += 1;
            let lock = &mut free[inside.addr as usize];
            prop_assert!(at >= *lock, "lock {} at {:?}, free at {:?}", inside.addr, at, *lock);
            *lock = at + ns(u64::from(inside.size));
        }
    }
}
