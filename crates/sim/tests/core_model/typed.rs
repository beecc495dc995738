//! Memory that is not write-back: when what is sent.

use prestore_machine::MemoryType;
use prestore_trace::FenceKind;

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread, now};

const WORD: u128 = 0xff;

fn all(below: &Mock) -> Vec<(u64, Call)> {
    below.calls(|_| true)
}

#[test]
fn write_through_stores_wait_for_the_controller_one_after_the_other() {
    let mut below = Mock::typed(MemoryType::WriteThrough, 0..9);
    let core = Thread::default()
        .store(1)
        .store(2)
        .sfence()
        .run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [(0, Call::Through(1, WORD)), (60, Call::Through(2, WORD))],
        "no line is asked for"
    );
    assert_eq!(now(&core), 120, "a fence waits for both");
}

#[test]
fn write_through_loads_are_cached() {
    let mut below = Mock::typed(MemoryType::WriteThrough, 0..9);
    Thread::default()
        .load(1)
        .work(50)
        .load(1)
        .run(&tso(), &mut below);
    assert_eq!(all(&below), [(0, Call::Load(1)), (51, Call::Load(1))]);
}

#[test]
fn a_load_is_forwarded_from_a_write_through_store() {
    let mut below = Mock::typed(MemoryType::WriteThrough, 0..9);
    let core = Thread::default()
        .store(1)
        .store(2)
        .load(2)
        .run(&tso(), &mut below);
    assert_eq!(core.results().load_forwarded, 1);
    assert_eq!(below.loads(), []);
}

#[test]
fn uncacheable_stores_go_around_the_caches_in_order_with_write_back_ones() {
    let mut below = Mock::owning([5]);
    below.types.insert(1, MemoryType::Uncacheable);
    Thread::default()
        .store(5)
        .store(1)
        .store(5)
        .sfence()
        .run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [
            (0, Call::Write(5, WORD)),
            (1, Call::Around(1, WORD)),
            (61, Call::Write(5, WORD)),
        ]
    );
}

#[test]
fn uncacheable_loads_follow_each_other_and_what_was_stored_uncacheable_before() {
    let mut below = Mock::typed(MemoryType::Uncacheable, 0..9);
    Thread::default()
        .store(1)
        .load(2)
        .load(2)
        .run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [
            (0, Call::Around(1, WORD)),
            (60, Call::LoadAround(2)),
            (160, Call::LoadAround(2)),
        ]
    );
}

#[test]
fn an_uncacheable_load_waits_until_what_is_before_it_has_retired() {
    let mut below = Mock::typed(MemoryType::Uncacheable, [7]);
    Thread::default().load(1).load(7).run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [(0, Call::Load(1)), (100, Call::LoadAround(7))]
    );
}

#[test]
fn write_combining_loads_do_not_wait_for_that_but_for_each_other() {
    let mut below = Mock::typed(MemoryType::WriteCombining, [7, 8]);
    Thread::default()
        .load(1)
        .load(7)
        .load(8)
        .run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [
            (0, Call::Load(1)),
            (1, Call::LoadAround(7)),
            (101, Call::LoadAround(8)),
        ]
    );
}

#[test]
fn write_combining_stores_gather_and_a_whole_line_goes_at_once() {
    let mut below = Mock::typed(MemoryType::WriteCombining, 0..9);
    let mut thread = Thread::default();
    for word in 0..8 {
        thread = thread.store_at(64 + 8 * word, 8);
    }
    thread.work(50).run(&tso(), &mut below);
    let arounds = below.arounds();
    assert_eq!(arounds, [(7, Call::Around(1, u64::MAX.into()))]);
    assert_eq!(all(&below).len(), 1);
}

#[test]
fn a_fence_sends_write_combining_buffers() {
    let mut below = Mock::typed(MemoryType::WriteCombining, 0..9);
    let core = Thread::default()
        .store(1)
        .fence(FenceKind::Full)
        .run(&tso(), &mut below);
    assert_eq!(all(&below), [(1, Call::Around(1, WORD))]);
    assert_eq!(now(&core), 61);
}

#[test]
fn a_load_of_a_line_that_gathers_sends_it_first() {
    let mut below = Mock::typed(MemoryType::WriteCombining, 0..9);
    Thread::default().store(1).load(1).run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [(1, Call::Around(1, WORD)), (61, Call::LoadAround(1))]
    );
}

#[test]
fn a_line_for_which_no_buffer_is_free_sends_the_oldest() {
    let mut below = Mock::typed(MemoryType::WriteCombining, 0..9);
    let mut thread = Thread::default();
    for line in 1..=5 {
        thread = thread.store(line);
    }
    thread.run(&tso(), &mut below);
    assert_eq!(
        below.arounds()[0],
        (4, Call::Around(1, WORD)),
        "the machine has four buffers; the fifth line needs one"
    );
}

#[test]
fn an_atomic_waits_for_write_combining_buffers() {
    let mut below = Mock::typed(MemoryType::WriteCombining, [1]);
    let core = Thread::default().store(1).atomic(7).run(&tso(), &mut below);
    assert_eq!(below.arounds(), [(1, Call::Around(1, WORD))]);
    assert!(now(&core) >= 61, "{}", now(&core));
}

#[test]
fn a_non_temporal_store_to_write_through_memory_gathers() {
    let mut below = Mock::typed(MemoryType::WriteThrough, 0..9);
    Thread::default()
        .nt_store_at(64, 8)
        .nt_store_at(72, 8)
        .fence(FenceKind::Full)
        .run(&tso(), &mut below);
    assert_eq!(all(&below), [(2, Call::Around(1, 0xffff))]);
}

#[test]
fn an_uncacheable_access_sends_write_combining_buffers_and_another_load_does_not() {
    for (of, sent) in [(MemoryType::Uncacheable, 1), (MemoryType::WriteBack, 0)] {
        let mut below = Mock::typed(MemoryType::WriteCombining, [1]);
        below.types.insert(7, of);
        Thread::default().store(1).load(7).run(&tso(), &mut below);
        assert_eq!(below.arounds().len(), sent, "{of:?}");
    }
}

#[test]
fn non_temporal_stores_to_uncacheable_memory_are_uncacheable_stores() {
    let mut below = Mock::typed(MemoryType::Uncacheable, 0..9);
    Thread::default()
        .nt_store_at(64, 8)
        .nt_store_at(72, 8)
        .run(&tso(), &mut below);
    assert_eq!(below.arounds()[0], (0, Call::Around(1, WORD)));
}

#[test]
fn an_atomic_on_memory_that_is_not_cached_reads_and_writes_it_there() {
    let mut below = Mock::typed(MemoryType::Uncacheable, [7]);
    below.types.insert(8, MemoryType::WriteThrough);
    Thread::default()
        .atomic(7)
        .atomic(8)
        .run(&tso(), &mut below);
    assert_eq!(
        all(&below),
        [
            (0, Call::LoadAround(7)),
            (100, Call::Around(7, WORD)),
            (179, Call::Load(8)),
            (279, Call::Through(8, WORD)),
        ],
        "an atomic costs 18 cycles on top, an instruction one"
    );
}

#[test]
fn a_merging_write_buffer_gathers_write_combining_stores() {
    let mut below = Mock::typed(MemoryType::WriteCombining, [1]);
    let core = Thread::default()
        .store_at(64, 8)
        .store_at(72, 8)
        .fence(FenceKind::Full)
        .run(&weak(), &mut below);
    assert_eq!(all(&below), [(2, Call::Around(1, 0xffff))]);
    assert_eq!(core.results().merged, 1);
}

#[test]
fn uncacheable_stores_of_a_weak_core_wait_for_each_other_and_a_fence_for_the_last() {
    let mut below = Mock::typed(MemoryType::Uncacheable, 0..9);
    let core = Thread::default()
        .store(1)
        .store(1)
        .fence(FenceKind::Full)
        .run(&weak(), &mut below);
    assert_eq!(
        all(&below),
        [(0, Call::Around(1, WORD)), (60, Call::Around(1, WORD))]
    );
    assert_eq!(now(&core), 120);
}

#[test]
fn waiting_for_what_is_not_cached_has_a_cause() {
    let mut below = Mock::typed(MemoryType::Uncacheable, 0..9);
    let core = Thread::default().load(1).load(2).run(&tso(), &mut below);
    let waited = core.results().stalls.of(prestore_sim::Cause::Uncached);
    assert_eq!(waited.0 / 1000, 99);
}
