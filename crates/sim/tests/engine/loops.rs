//! Who goes on when, and what waits for what.

use prestore_sim::{
    Cause, Finished, Interest, NoMechanism, Op, Plan, Run, SimulationError, Source, Time,
};

use crate::mock::{Notes, Script, SlowCore, hand_off, load, ns, store, wait_for};

pub const PLAN: Plan = Plan {
    interest: Interest::All,
    warmup: 0,
    quantum: Time(2_000),
    lenient: false,
};

type Error = SimulationError<std::convert::Infallible>;

pub fn run(threads: Vec<Vec<Op>>, plan: Plan) -> Result<Finished, Error> {
    let mut source = Script::new(threads);
    let cores = (0..source.threads()).map(|_| SlowCore::default());
    Run::new(&mut source, &mut NoMechanism, cores, Notes::default(), plan).finish()
}

/// The loads of a run, in the order they came in.
fn order(threads: Vec<Vec<Op>>) -> Vec<(u32, Time)> {
    let mut loads = Vec::new();
    let mut source = Script::new(threads);
    let cores = (0..source.threads()).map(|_| SlowCore::default());
    let below = Notes {
        loads: Some(&mut loads),
    };
    Run::new(&mut source, &mut NoMechanism, cores, below, PLAN)
        .finish()
        .unwrap();
    loads
}

#[test]
fn cores_stay_within_a_quantum_of_each_other() {
    let loads = order(vec![vec![load(1); 100], vec![load(3); 50]]);
    assert_eq!(loads.len(), 150);
    let mut latest = Time::ZERO;
    for (_, at) in &loads {
        // A turn may end one operation (of 3 ns at most) behind its limit.
        assert!(
            *at + PLAN.quantum + ns(3) >= latest,
            "{at:?} after {latest:?}"
        );
        latest = latest.max(*at);
    }
}

#[test]
fn the_run_ends_with_its_last_thread() {
    let done = run(vec![vec![load(1); 10], vec![load(7); 5]], PLAN).unwrap();
    assert_eq!(done.measured.elapsed, ns(35));
    assert_eq!(done.ops, 15);
    let clocks: Vec<Time> = (done.measured.counts.threads.iter())
        .map(|t| t.clock)
        .collect();
    assert_eq!(clocks, [ns(10), ns(35)]);
}

#[test]
fn threads_may_be_numbered_in_any_order() {
    let a = vec![load(1), load(2), load(3), store(4)];
    let b = vec![store(5); 9];
    let one = run(vec![a.clone(), b.clone()], PLAN).unwrap();
    let two = run(vec![b, a], PLAN).unwrap();
    assert_eq!(one.measured.elapsed, two.measured.elapsed);
    let one = &one.measured.counts.threads;
    let two = &two.measured.counts.threads;
    assert_eq!((&one[0], &one[1]), (&two[1], &two[0]));
}

#[test]
fn a_thread_sleeps_until_its_hand_off_is_visible() {
    let producer = vec![store(10), store(5), hand_off(7), store(1)];
    let consumer = vec![wait_for(7), load(2)];
    let done = run(vec![producer, consumer], PLAN).unwrap();
    let consumer = &done.measured.counts.threads[1];
    assert_eq!(consumer.clock, ns(17));
    assert_eq!(consumer.stalls[&Cause::Await], ns(15));
    assert_eq!(done.measured.counts.threads[0].clock, ns(16));
}

#[test]
fn a_hand_off_that_lies_in_the_past_costs_nothing() {
    let producer = vec![store(1), hand_off(1)];
    let consumer = vec![store(50), wait_for(1), load(2)];
    let done = run(vec![producer, consumer], PLAN).unwrap();
    assert_eq!(done.measured.counts.threads[1].clock, ns(52));
}

#[test]
fn a_hand_off_takes_from_the_store_that_publishes_to_the_first_load() {
    let mut source = Script::new(vec![
        vec![store(10), store(5), hand_off(7)],
        vec![wait_for(7), store(3), load(2), load(100)],
    ]);
    let core = |_| SlowCore {
        visible_after: ns(20),
        ..SlowCore::default()
    };
    let done = Run::new(
        &mut source,
        &mut NoMechanism,
        (0..2).map(core),
        Notes::default(),
        PLAN,
    )
    .finish()
    .unwrap();
    // Visible at 35, read at 40; the publishing store began at 10.
    let handoffs = done.measured.handoffs.summary();
    assert_eq!((handoffs.count, handoffs.mean_ns), (1, 30.0));
    assert_eq!(done.measured.messages.summary().count, 0);
}

#[test]
fn threads_that_wait_for_each_other_are_named() {
    let threads = vec![
        vec![wait_for(1), hand_off(2)],
        vec![wait_for(2), hand_off(1)],
        vec![load(1)],
    ];
    let error = run(threads.clone(), PLAN).unwrap_err();
    let SimulationError::Deadlock { waiting } = &error else {
        panic!("{error}");
    };
    assert_eq!(*waiting, [(0, 1), (1, 2)]);
    let text = error.to_string();
    assert!(
        text.contains("thread 0 for hand-off 1, thread 1 for hand-off 2"),
        "{text}"
    );

    let lenient = Plan {
        lenient: true,
        ..PLAN
    };
    let done = run(threads, lenient).unwrap();
    assert_eq!(done.stuck, [(0, 1), (1, 2)]);
    assert_eq!(done.measured.elapsed, ns(1));
}
