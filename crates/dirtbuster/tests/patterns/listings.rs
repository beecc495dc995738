//! P0's listings.

use prestore_dirtbuster::Verdict;
use prestore_trace::FenceKind;

use crate::synthetic::copy::Copy;
use crate::synthetic::{GENERIC, Program, SITES};
use crate::{HEAP, STACK, of_function};
use fastrand::Rng;

/// Listing 1: elements written in random order by `memcpy`, then (maybe) one field is read.
fn listing_1(element: u64, elements: u64, reread: bool) -> Program {
    let mut p = Program::default();
    let copy = Copy::new(&mut p);
    let call = p.block(1, 0).compute(12).call().done();
    let read = p
        .block(1, 10)
        .compute(1)
        .load(0, 0, 8)
        .compute(3)
        .after(call)
        .done();
    let go_on = p.block(1, 20).compute(5).after(call).done();
    let mut random = Rng::with_seed(1);
    for _ in 0..20_000 {
        let at = HEAP + random.u64(..elements) * element;
        p.run(0, call, &[]);
        copy.run(&mut p, 0, at, element);
        if reread {
            p.run(0, read, &[at]);
        } else {
            p.run(0, go_on, &[]);
        }
    }
    p
}

#[test]
fn listing_1_reread_is_cleaned() {
    for element in [256, 1024, 4096] {
        let out = listing_1(element, 100_000, true).analyze();
        let f = of_function(&out.findings, GENERIC);
        assert_eq!(f.verdict, Verdict::Clean, "{element}: {f:#?}");
        assert!(f.generic_writer);
        assert_eq!(f.call_chain[0].0 / SITES, 1);
        assert!(f.sequential_share > 0.9, "{f:#?}");
        let class = &f.contexts[0];
        assert!(class.bytes.abs_diff(element) * 10 < element, "{f:#?}");
    }
}

#[test]
fn listing_1_not_reread_skips_the_cache() {
    for element in [256, 1024, 4096] {
        let out = listing_1(element, 100_000, false).analyze();
        let f = of_function(&out.findings, GENERIC);
        assert_eq!(f.verdict, Verdict::Skip, "{element}: {f:#?}");
    }
}

#[test]
fn listing_3_is_left_alone_because_it_is_rewritten() {
    for lines in [1, 2, 4, 64] {
        let mut p = Program::default();
        let mut draft = p.block(1, 0).compute(2);
        for at in (0..lines.min(4) * 64).step_by(32) {
            draft = draft.store(0, at, 32);
        }
        let fill = draft.compute(2).done();
        for _ in 0..10_000 {
            for at in (0..lines as u64).step_by(4) {
                p.run(0, fill, &[HEAP + at * 64]);
            }
        }
        let out = p.analyze();
        let f = of_function(&out.findings, 1);
        assert_eq!(f.verdict, Verdict::LeaveAlone, "{lines}: {f:#?}");
        assert!(f.rewrite.share > 0.99, "{lines}: {f:#?}");
        assert!(f.reason.contains("written again"), "{}", f.reason);
        if lines == 1 {
            assert_eq!(f.rewrite.mean, Some(6.0));
            assert!(f.reason.contains("after 6 instructions"), "{}", f.reason);
        }
    }
}

#[test]
fn listing_3_by_memset_calls_is_left_alone() {
    let mut p = Program::default();
    let copy = Copy::new(&mut p);
    let call = p.block(1, 0).compute(4).call().done();
    let back = p.block(1, 10).compute(2).after(call).done();
    for i in 0..10_000u64 {
        p.run(0, call, &[]);
        copy.run(&mut p, 0, HEAP + i % 2 * 4096, 128);
        p.run(0, back, &[]);
    }
    let out = p.analyze();
    let f = of_function(&out.findings, GENERIC);
    assert_eq!(f.verdict, Verdict::LeaveAlone, "{f:#?}");
    assert!(f.rewrite.share > 0.99, "{f:#?}");
}

#[test]
fn listing_2_reports_the_distance_of_the_fence() {
    for n in [1u16, 10, 100] {
        let mut p = Program::default();
        let mut draft = p.block(1, 0).compute(10);
        for at in (0..128).step_by(32) {
            draft = draft.store(0, at, 32);
        }
        for i in 0..n {
            draft = draft.load(1, i64::from(i) * 8, 8);
        }
        let block = draft.fence(FenceKind::Full).done();
        let mut random = Rng::with_seed(2);
        for _ in 0..20_000 {
            p.run(0, block, &[HEAP + random.u64(..1 << 20) * 128, STACK]);
        }
        let out = p.analyze();
        let f = of_function(&out.findings, 1);
        assert_eq!(f.fence_distance.min, Some(u64::from(n) + 1));
        let median = f.fence_distance.median.expect("all are fenced");
        assert!(median > u64::from(n) && median <= u64::from(n) + 6);
        if out.findings.write_intensive {
            assert_ne!(f.verdict, Verdict::LeaveAlone, "{f:#?}");
        }
    }
}
