//! Flushes, fences and non-temporal stores that are there, and what is no data.

use prestore_dirtbuster::{Findings, Pitfall, PitfallKind, Verdict};
use prestore_trace::FenceKind;

use crate::synthetic::Program;
use crate::{HEAP, STACK, of_site};

#[track_caller]
pub(crate) fn only(f: &Findings, kind: PitfallKind) -> &Pitfall {
    assert_eq!(f.pitfalls.len(), 1, "{:#?}", f.pitfalls);
    assert_eq!(f.pitfalls[0].kind, kind);
    &f.pitfalls[0]
}

/// Lines are written, flushed and fenced, each once, or so many times in a row.
fn persist(times: u64, flushes: u64) -> Findings {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 64).compute(6).done();
    let flush = p.block(1, 10).flush(0).done();
    let fence = p.block(1, 20).fence(FenceKind::Store).done();
    for i in 0..20_000 {
        for _ in 0..times {
            p.run(0, write, &[HEAP + i * 64]);
            for _ in 0..flushes {
                p.run(0, flush, &[HEAP + i * 64 + 8]);
            }
            p.run(0, fence, &[]);
        }
    }
    p.analyze().findings
}

#[test]
fn lines_written_once_flushed_once_and_fenced_are_as_they_should_be() {
    let f = persist(1, 1);
    assert_eq!(f.pitfalls, []);
    let place = of_site(&f, 1000);
    assert_eq!(place.verdict, Verdict::Skip, "{place:#?}");
}

#[test]
fn a_flush_of_a_line_that_is_written_again_at_once_is_a_pitfall() {
    let f = persist(100, 1);
    let flush = only(&f, PitfallKind::FlushOfRewrittenLine);
    assert_eq!(
        (flush.site.0, flush.executed, flush.affected),
        (1010, 2_000_000, 1_980_000)
    );
    assert!(flush.cost_share > 0.5, "{flush:#?}");
    assert!(flush.reason.contains("99%"), "{}", flush.reason);
}

#[test]
fn a_second_flush_of_a_line_is_a_pitfall() {
    let f = persist(1, 2);
    let flush = only(&f, PitfallKind::FlushOfCleanLine);
    assert_eq!((flush.executed, flush.affected), (40_000, 20_000));
}

#[test]
fn a_flush_of_what_nobody_wrote_is_a_pitfall() {
    let mut p = Program::default();
    let flush = p.block(1, 0).load(0, 0, 8).flush(0).done();
    for i in 0..1000 {
        p.run(0, flush, &[HEAP + i * 64]);
    }
    let f = p.analyze().findings;
    assert_eq!(only(&f, PitfallKind::FlushOfCleanLine).affected, 1000);
}

#[test]
fn a_store_between_two_flushes_of_a_line_makes_it_dirty() {
    let mut p = Program::default();
    let append = p
        .block(1, 0)
        .store(0, 0, 8)
        .flush(0)
        .fence(FenceKind::Store)
        .done();
    for i in 0..8 * 1000 {
        p.run(0, append, &[HEAP + i * 8]);
    }
    let f = p.analyze().findings;
    let flush = only(&f, PitfallKind::FlushOfRewrittenLine);
    assert_eq!((flush.executed, flush.affected), (8000, 7000));
}

#[test]
fn flushes_without_a_fence_are_a_pitfall_only_beside_fenced_ones() {
    let run = |fenced: bool| {
        let mut p = Program::default();
        let write = p.block(1, 0).store(0, 0, 64).flush(0).compute(40).done();
        let other = p
            .block(2, 0)
            .store(0, 0, 64)
            .flush(0)
            .fence(FenceKind::Store)
            .done();
        for i in 0..1000 {
            p.run(0, write, &[HEAP + i * 64]);
        }
        for i in 0..100 * u64::from(fenced) {
            p.run(1, other, &[HEAP + 0x1000_0000 + i * 64]);
        }
        p.analyze().findings
    };
    assert_eq!(run(false).pitfalls, []);
    let f = run(true);
    let flush = only(&f, PitfallKind::FlushWithoutFence);
    assert_eq!((flush.site.0, flush.affected), (1001, 1000));
}

/// A range is flushed line by line, as `pmem_persist` does, which takes more instructions than a fence is looked for behind one
/// flush; what comes before a long pause is not that range's.
#[test]
fn a_fence_behind_a_large_range_is_the_fence_of_all_its_flushes() {
    for pause in [false, true] {
        let mut p = Program::default();
        let write = p.block(1, 0).store(0, 0, 64).done();
        let flush = p.block(2, 0).flush(0).compute(2).done();
        let fence = p.block(3, 0).fence(FenceKind::Store).done();
        let rest = p.block(4, 0).compute(1000).done();
        let lines = 100_000;
        for i in 0..lines {
            p.run(0, write, &[HEAP + i * 64]);
        }
        for i in 0..lines {
            p.run(0, flush, &[HEAP + i * 64]);
            let pauses = if pause && i == lines / 2 { 100 } else { 0 };
            (0..pauses).for_each(|_| p.run(0, rest, &[]));
        }
        p.run(0, fence, &[]);
        // What shows that the program fences its flushes.
        for _ in 0..2 {
            p.run(0, flush, &[HEAP]);
            p.run(0, fence, &[]);
        }
        let other = p
            .block(5, 0)
            .store(0, 0, 64)
            .flush(0)
            .fence(FenceKind::Store)
            .done();
        for i in 0..100 {
            p.run(1, other, &[HEAP + 0x1000_0000 + i * 64]);
        }
        let f = p.analyze().findings;
        match pause {
            false => assert_eq!(f.pitfalls, []),
            true => {
                let flush = only(&f, PitfallKind::FlushWithoutFence);
                assert_eq!((flush.site.0, flush.affected), (2000, lines / 2 + 1));
            }
        }
    }
}

#[test]
fn who_flushes_to_survive_is_not_told_to_leave_it() {
    for fenced in [false, true] {
        let mut p = Program::default();
        let mut append = p.block(1, 0).store(0, 0, 8).flush(0).compute(4);
        if fenced {
            append = append.fence(FenceKind::Store);
        }
        let append = append.done();
        for i in 0..8 * 1000 {
            p.run(0, append, &[HEAP + i * 8]);
        }
        let f = p.analyze().findings;
        let flush = only(&f, PitfallKind::FlushOfRewrittenLine);
        assert_eq!(
            flush.reason.contains("not at all"),
            !fenced,
            "{}",
            flush.reason
        );
        assert_eq!(flush.reason.contains("survive"), fenced, "{}", flush.reason);
    }
}

/// Copies of large blocks: all but the ends is written around the cache, the ends are not.
#[test]
fn fences_with_nothing_to_order_are_a_pitfall() {
    for (kind, stores) in [(FenceKind::Store, true), (FenceKind::Store, false)] {
        let mut p = Program::default();
        let mut draft = p.block(1, 0);
        if stores {
            draft = draft.store(0, 0, 8);
        }
        let block = draft.compute(20).fence(kind).done();
        for _ in 0..1000 {
            p.run(0, block, if stores { &[HEAP] } else { &[] });
        }
        let f = p.analyze().findings;
        assert_eq!(only(&f, PitfallKind::IdleFence).affected, 1000, "{kind:?}");
    }
    let mut p = Program::default();
    let block = p
        .block(1, 0)
        .store(0, 0, 8)
        .compute(20)
        .fence(FenceKind::Full)
        .done();
    for _ in 0..1000 {
        p.run(0, block, &[HEAP]);
    }
    assert_eq!(
        p.analyze().findings.pitfalls,
        [],
        "a full fence orders stores before loads"
    );
}

/// Between loads, which are in order anyway: `mfence`, and what compilers write in its place.
#[test]
fn full_fences_with_nothing_stored_before_are_a_pitfall() {
    for locked in [false, true] {
        let mut p = Program::default();
        let draft = p.block(1, 0).load(0, 0, 8).compute(20);
        let block = match locked {
            true => draft.atomic(1, 0, 8).in_frame().done(),
            false => draft.fence(FenceKind::Full).done(),
        };
        for i in 0..1000 {
            p.run(0, block, &[HEAP + i * 8, STACK][..1 + usize::from(locked)]);
        }
        let f = p.analyze().findings;
        let idle = only(&f, PitfallKind::IdleFence);
        assert_eq!((idle.executed, idle.affected), (1000, 1000), "{f:#?}");
        assert!(idle.reason.contains("loads"), "{}", idle.reason);
    }
}

/// An atomic is a full fence, for its own store as well; a store behind it is one to order.
#[test]
fn a_full_fence_behind_an_atomic_is_a_pitfall() {
    for store_between in [false, true] {
        let mut p = Program::default();
        let mut draft = p.block(1, 0).atomic(0, 0, 8);
        if store_between {
            draft = draft.store(0, 8, 8);
        }
        let block = draft.compute(20).fence(FenceKind::Full).done();
        for i in 0..1000 {
            p.run(0, block, &[HEAP + i % 4 * 64]);
        }
        let f = p.analyze().findings;
        if store_between {
            assert_eq!(f.pitfalls, []);
        } else {
            assert_eq!(only(&f, PitfallKind::IdleFence).affected, 1000);
        }
    }
}

#[test]
fn a_reason_tells_that_ordinary_stores_need_no_store_fence() {
    let mut p = Program::default();
    let draft = p.block(1, 0).store(0, 0, 8).compute(20);
    let block = draft.fence(FenceKind::Store).done();
    for _ in 0..1000 {
        p.run(0, block, &[HEAP]);
    }
    let f = p.analyze().findings;
    let reason = &only(&f, PitfallKind::IdleFence).reason;
    assert!(reason.contains("ordinary stores"), "{reason}");
    assert!(!reason.contains("no store"), "{reason}");
}

/// A store fence leaves the store where a later load may pass it (Dekker's algorithm).
#[test]
fn a_full_fence_behind_a_store_fence_has_the_store_to_order() {
    let mut p = Program::default();
    let block = p
        .block(1, 0)
        .store(0, 0, 8)
        .fence(FenceKind::Store)
        .compute(20)
        .fence(FenceKind::Full)
        .load(0, 64, 8)
        .done();
    for i in 0..1000 {
        p.run(0, block, &[HEAP + i * 128]);
    }
    let pitfalls = p.analyze().findings.pitfalls;
    let full = |f: &Pitfall| f.reason.contains("full");
    assert!(!pitfalls.iter().any(full), "{pitfalls:#?}");
}

/// Whole lines written around the cache, each read (or written) again at once, or never.
#[test]
fn a_locked_instruction_on_the_frame_is_a_fence_and_no_store() {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 8).compute(4).done();
    let fence = p.block(2, 0).atomic(0, 0, 8).in_frame().done();
    for i in 0..100 {
        p.run(0, write, &[HEAP + i * 64]);
        p.run(0, fence, &[STACK]);
    }
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).fence_distance.median, Some(5));
    assert_eq!((f.stores, f.fences), (100, 100));
    assert!(
        f.findings.iter().all(|f| f.sites[0].site.0 != 2000),
        "{f:#?}"
    );
}

#[test]
fn a_loop_that_waits_with_such_a_fence_writes_nothing() {
    let mut p = Program::default();
    let poll = p.block(1, 0).load(0, 0, 8).done();
    let fence = p.block(1, 10).atomic(0, 0, 8).in_frame().done();
    let tell = p.block(2, 0).store(0, 0, 8).done();
    for _ in 0..1000 {
        p.run(0, poll, &[HEAP]);
        p.run(0, fence, &[STACK]);
    }
    p.run(1, tell, &[HEAP]);
    p.run(0, poll, &[HEAP]);
    let f = p.analyze().findings;
    assert!(f.time.waited > 1900, "{:?}", f.time);
    assert_eq!(f.findings.len(), 1, "{f:#?}");
    assert_eq!(f.pitfalls, [], "whoever waits may flush");
}

#[test]
fn calls_pushes_and_spills_are_counted_and_no_data() {
    let mut p = Program::default();
    let enter = p
        .block(1, 0)
        .store(0, -8, 8)
        .in_frame()
        .store(0, -16, 8)
        .in_frame()
        .call()
        .done();
    let leave = p.block(1, 10).load(0, -8, 8).after(enter).done();
    for i in 0..1000 {
        p.run(0, enter, &[STACK - i * 16]);
        p.run(0, leave, &[STACK - i * 16]);
    }
    let out = p.analyze();
    assert_eq!(out.findings.findings, []);
    assert_eq!((out.findings.stores, out.counts.len()), (2000, 2));
    assert_eq!(out.findings.time.writing, 0.0);
}
