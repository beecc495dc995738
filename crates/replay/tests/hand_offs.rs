//! Which order between threads is kept.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::made_up::time;
use common::slot::{
    DATA_LOAD, DATA_STORE, FLAG, FREE, LOCK, MARK, PLAIN_SET, POLL, PUBLISH, at_flag, one_slot,
    process, words,
};
use common::{brief, exec, finishing, ops, recording, special, stamp, thread};
use prestore_replay::{HandOffs, Options, Waits};
use prestore_sim::OpKind;
use prestore_trace::record::Special;
use proptest::prelude::*;

#[test]
fn a_message_waits_for_its_producer_and_the_slot_for_its_consumer() {
    let (_dir, trace) = recording(&[process(one_slot(3, 1))]);
    let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
    // The first message needs no free slot.
    assert_eq!(hand_offs.counts().enforced, 3 + 2);
    assert_eq!(hand_offs.counts().locks + hand_offs.counts().unpolled, 0);
    let all = ops(&trace, &Options::default());
    let kinds = |ops: &[_]| brief(ops).iter().map(|b| b.0).collect::<Vec<_>>();
    use OpKind::{Atomic, Await, HandOff, Load, Store};
    let produced = [Load, Store, Atomic, HandOff];
    let again = [Await, Load, Store, Atomic, HandOff];
    assert_eq!(kinds(&all[0]), [&produced[..], &again, &again].concat());
    let consumed = [Await, Load, Load, Atomic, HandOff];
    let last = &consumed[..4]; // nobody waits for the last slot
    assert_eq!(kinds(&all[1]), [&consumed[..], &consumed, last].concat());
    assert_eq!(finishing(&all), 2);
}

#[test]
fn what_is_published_is_what_is_awaited() {
    let (_dir, trace) = recording(&[process(one_slot(50, 1))]);
    let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
    let published: Vec<_> = hand_offs.published_by(thread(0)).collect();
    let awaited: Vec<_> = hand_offs.awaited_by(thread(1)).collect();
    assert_eq!(published.len(), 50);
    for (k, (a, b)) in published.iter().zip(&awaited).enumerate() {
        assert_eq!(a.number, b.number);
        // Each message has three events on either side; the poll is the first of them.
        assert_eq!((a.events, b.events), (3 * k as u64 + 3, 3 * k as u64));
    }
}

#[test]
fn failed_polls_are_left_out_with_their_instructions() {
    let (_dir, trace) = recording(&[process(one_slot(4, 6))]);
    let (_d, without) = recording(&[process(one_slot(4, 1))]);
    let options = Options::default();
    assert_eq!(ops(&trace, &options), ops(&without, &options));
    let keep = Options {
        waits: Waits::Keep,
        ..options
    };
    let all = ops(&trace, &keep);
    let polls = brief(&all[1])
        .iter()
        .filter(|b| **b == (OpKind::Load, FLAG))
        .count();
    assert_eq!(polls, 4 * 6);
    assert_eq!(finishing(&all), 2);
}

#[test]
fn work_between_two_polls_is_kept() {
    let consumer = |between: Vec<u64>| {
        let mut parts = vec![at_flag(POLL), between, at_flag(POLL)];
        parts.extend([stamp(1050), at_flag(FREE)]);
        words(20, &parts)
    };
    let loads = |between: Vec<u64>| {
        let producer = one_slot(1, 1).remove(0);
        let (_dir, trace) = recording(&[process(vec![producer, consumer(between)])]);
        let counts = HandOffs::infer(&trace, &Options::default())
            .unwrap()
            .counts();
        assert_eq!(counts.enforced, 1);
        let all = ops(&trace, &Options::default());
        brief(&all[1])
            .iter()
            .filter(|b| **b == (OpKind::Load, FLAG))
            .count()
    };
    assert_eq!(loads(exec(DATA_LOAD, &[0x5000])), 1);
    assert_eq!(loads(exec(DATA_STORE, &[0x5000])), 2);
    assert_eq!(loads(exec(MARK, &[7])), 2);
    let alloc = Special::Alloc {
        addr: 0x7000,
        size: 64,
        caller: 0,
        kind: prestore_trace::record::AllocKind::Malloc,
    };
    assert_eq!(loads(special(alloc)), 2);
}

#[test]
fn a_lock_is_not_enforced() {
    // Acquired with one instruction, released with another atomic or a plain store.
    for release in [FREE, PLAIN_SET] {
        for polls in [0, 1] {
            let thread = |first: u64| {
                let turns = (0..10).flat_map(|k| {
                    let mut turn = vec![at_flag(POLL); polls];
                    let at = first + 100 * k;
                    turn.extend([stamp(at), at_flag(LOCK), exec(DATA_STORE, &[0x5000])]);
                    turn.extend([stamp(at + 10), at_flag(release)]);
                    turn
                });
                words(first - 90, &turns.collect::<Vec<_>>())
            };
            let (_dir, trace) = recording(&[process(vec![thread(100), thread(150)])]);
            let counts = HandOffs::infer(&trace, &Options::default())
                .unwrap()
                .counts();
            assert_eq!(
                (counts.enforced, counts.locks),
                (0, 19),
                "{release} {polls}"
            );
        }
    }
}

#[test]
fn what_could_not_have_been_seen_is_not_awaited() {
    // The consumer's next stamp after its poll is before the producer's atomic.
    let producer = words(10, &[stamp(1000), at_flag(PUBLISH)]);
    let other = exec(LOCK, &[0x8000]);
    let consumer = words(
        20,
        &[at_flag(POLL), stamp(500), other, stamp(1100), at_flag(FREE)],
    );
    let (_dir, trace) = recording(&[process(vec![producer, consumer])]);
    let counts = HandOffs::infer(&trace, &Options::default())
        .unwrap()
        .counts();
    assert_eq!((counts.enforced, counts.unpolled), (0, 1));
}

#[test]
fn who_comes_to_a_meeting_late_waits_for_nobody_who_waits_for_it() {
    const ARRIVED: u64 = FLAG;
    const RELEASED: u64 = FLAG + 64;
    // It looks for its release once, when that is there.
    let member = words(
        20,
        &[
            vec![stamp(100), exec(PUBLISH, &[ARRIVED])],
            vec![exec(POLL, &[RELEASED]), stamp(400)],
            vec![exec(LOCK, &[RELEASED])],
        ]
        .concat(),
    );
    let leader = words(
        10,
        &[
            vec![exec(POLL, &[ARRIVED]); 3],
            vec![stamp(200), exec(FREE, &[ARRIVED])],
            vec![stamp(300), exec(PLAIN_SET, &[RELEASED])],
        ]
        .concat(),
    );
    let (_dir, trace) = recording(&[process(vec![leader, member])]);
    let counts = HandOffs::infer(&trace, &Options::default())
        .unwrap()
        .counts();
    assert_eq!((counts.met, counts.enforced), (1, 2), "{counts:?}");
    assert_eq!(counts.contradicting, 0, "{counts:?}");
    assert_eq!(finishing(&ops(&trace, &Options::default())), 2);
}

#[test]
fn plain_stores_are_taken_one_by_one() {
    // The producer never executes an atomic, so all its stores have the time of its buffer.
    let stores: Vec<_> = (0..5).map(|_| at_flag(PLAIN_SET)).collect();
    let takes: Vec<_> = (0..5)
        .flat_map(|k| [at_flag(POLL), stamp(1000 + k), at_flag(FREE)])
        .collect();
    let threads = vec![words(10, &stores), words(20, &takes)];
    let (_dir, trace) = recording(&[process(threads)]);
    let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
    assert_eq!(hand_offs.counts().enforced, 5);
    let order =
        |ends: Vec<prestore_replay::Endpoint>| ends.iter().map(|e| e.number).collect::<Vec<_>>();
    assert_eq!(
        order(hand_offs.published_by(thread(0)).collect()),
        order(hand_offs.awaited_by(thread(1)).collect())
    );
}

#[test]
fn a_thread_begins_when_its_creator_made_it() {
    let creator = words(
        10,
        &[
            exec(DATA_STORE, &[0x5000]),
            special(Special::Spawn { ticks: 100 }),
            exec(DATA_STORE, &[0x5008]),
        ],
    );
    let child = words(120, &[exec(DATA_LOAD, &[0x5000])]);
    let (_dir, trace) = recording(&[process(vec![creator, child])]);
    let all = ops(&trace, &Options::default());
    assert_eq!(
        brief(&all[0]),
        [
            (OpKind::Store, 0x5000),
            (OpKind::HandOff, 0),
            (OpKind::Store, 0x5008)
        ]
    );
    assert_eq!(brief(&all[1]), [(OpKind::Await, 0), (OpKind::Load, 0x5000)]);
}

#[test]
fn a_forked_process_begins_when_its_parent_forked() {
    let spawn = special(Special::Spawn { ticks: 100 });
    let parent = process(vec![words(10, &[exec(DATA_STORE, &[0x5000]), spawn])]);
    let mut child = process(vec![words(120, &[exec(DATA_LOAD, &[0x5000])])]);
    (child.pid, child.parent, child.inherited) = (200, 100, 64);
    let (_dir, trace) = recording(&[parent, child]);
    let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
    assert_eq!(hand_offs.counts().spawned, 1);
    assert_eq!(hand_offs.awaited_by(thread(1)).count(), 1);
}

/// A thread that does anything with a few flags, in order of time.
fn any_thread() -> impl Strategy<Value = Vec<u64>> {
    let step = (1u64..50, 0u32..8, 0u64..3);
    (0u64..100, prop::collection::vec(step, 1..80)).prop_map(|(start, steps)| {
        let (mut ticks, mut words) = (start, time(start));
        for (passes, what, flag) in steps {
            ticks += passes;
            let atomic = [PUBLISH, FREE, LOCK].get(what as usize);
            if let Some(&block) = atomic {
                words.extend(stamp(ticks));
                words.extend(exec(block, &[FLAG + 64 * flag]));
            } else if what == 7 {
                words.extend(special(Special::Spawn { ticks }));
            } else {
                let block = [POLL, POLL, PLAIN_SET, DATA_STORE][what as usize - 3];
                words.extend(exec(block, &[FLAG + 64 * flag]));
            }
        }
        words.extend(exec(DATA_LOAD, &[0x5000]));
        words
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nobody_waits_for_ever(threads in prop::collection::vec(any_thread(), 1..5)) {
        let (_dir, trace) = recording(&[process(threads)]);
        let all = ops(&trace, &Options::default());
        prop_assert_eq!(finishing(&all), all.len());
    }

    #[test]
    fn keeping_waits_keeps_every_event(threads in prop::collection::vec(any_thread(), 1..5)) {
        let (_dir, trace) = recording(&[process(threads)]);
        let keep = Options { waits: Waits::Keep, ..Options::default() };
        let all = ops(&trace, &keep);
        let real = |k: OpKind| !matches!(
            k, OpKind::HandOff | OpKind::Await | OpKind::Acquire | OpKind::Release
        );
        for (i, ops) in all.iter().enumerate() {
            let events = trace.totals(thread(i as u32)).events;
            let total: u64 = events.iter().map(|(_, n)| n).sum();
            prop_assert_eq!(ops.iter().filter(|o| real(o.kind)).count() as u64, total);
        }
    }
}
