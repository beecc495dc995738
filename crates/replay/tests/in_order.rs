//! All threads at once, in the order of their stamps.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::slot::{DATA_STORE, FLAG, LOCK, one_slot, process, words};
use common::{exec, recording, stamp, thread};
use prestore_replay::{Executor, Options, OrderedSink, in_order, in_order_of_waits};
use prestore_trace::ThreadId;
use prestore_trace::block::Block;
use prestore_trace::container::Trace;
use prestore_trace::record::Special;

/// Threads and first values of what they executed.
#[derive(Default)]
struct Seen(Vec<(ThreadId, u64)>);

impl OrderedSink for Seen {
    fn exec(&mut self, who: Executor<'_>, _: u64, block: &Block, values: &[u64], executed: u32) {
        assert_eq!(who.table.get(block.id), Some(block));
        assert_eq!(executed, block.instrs);
        self.0.push((who.thread, values[0]));
    }

    fn special(&mut self, _: Executor<'_>, _: u64, _: Special) {}
}

#[test]
fn what_lies_behind_an_atomic_comes_behind_what_others_did_before() {
    let locked = |ticks, data| [stamp(ticks), exec(LOCK, &[FLAG]), exec(DATA_STORE, &[data])];
    let one = [vec![exec(DATA_STORE, &[1])], locked(40, 2).to_vec()].concat();
    let two = [
        vec![exec(DATA_STORE, &[3])],
        locked(30, 4).to_vec(),
        locked(50, 5).to_vec(),
    ];
    let (_dir, trace) = recording(&[process(vec![words(10, &one), words(20, &two.concat())])]);
    let mut seen = Seen::default();
    let notes = in_order(&trace, &Options::default(), &mut seen).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    let expected = [
        (0, 1),
        (1, 3),
        (1, FLAG),
        (1, 4),
        (0, FLAG),
        (0, 2),
        (1, FLAG),
        (1, 5),
    ];
    assert_eq!(seen.0, expected.map(|(t, value)| (thread(t), value)));
}

/// What `of` gives of messages through one slot, of which the consumer's first records come before the producer's.
fn messages(of: impl FnOnce(&Trace, &mut Seen)) -> Vec<(ThreadId, u64)> {
    let mut threads = one_slot(3, 4);
    // The ticks of its first record, which begins it.
    threads[1][1] = 5;
    let (_dir, trace) = recording(&[process(threads)]);
    let mut seen = Seen::default();
    of(&trace, &mut seen);
    seen.0.retain(|(_, value)| *value != FLAG);
    seen.0
}

#[test]
fn what_waits_for_another_thread_comes_behind_that() {
    let stored_or_loaded = |t, message: u64| (thread(t), 0x5000 + 8 * message);
    let by_stamps = messages(|trace, seen| {
        in_order(trace, &Options::default(), seen).unwrap();
    });
    assert_eq!(by_stamps[0], stored_or_loaded(1, 0), "{by_stamps:?}");
    let by_waits = messages(|trace, seen| {
        let notes = in_order_of_waits(trace, &Options::default(), seen).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
    });
    let expected = (0..3).flat_map(|k| [stored_or_loaded(0, k), stored_or_loaded(1, k)]);
    assert_eq!(by_waits, expected.collect::<Vec<_>>());
}
