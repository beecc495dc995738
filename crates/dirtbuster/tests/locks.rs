//! Locks: what an atomic has taken needs no pre-store.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod synthetic;

use prestore_dirtbuster::Verdict;
use prestore_trace::EventKind;
use synthetic::Program;

const BUCKETS: u64 = 0x7f00_0000_0000;
/// Far enough apart that no bucket is soon written again.
const STEP: u64 = 4096;

/// A bucket a turn is locked, written and unlocked, and some time goes by.
fn locked_writes(first_is: EventKind) -> prestore_dirtbuster::Findings {
    let mut p = Program::default();
    let draft = p.block(1, 0);
    let draft = match first_is {
        EventKind::AtomicRmw => draft.atomic(0, 0, 8),
        _ => draft.store(0, 0, 8),
    };
    let update = draft.store(0, 16, 8).store(0, 48, 8).compute(4).done();
    let other = p.block(2, 0).atomic(0, 0, 8).compute(20).done();
    for i in 0..20_000 {
        p.run(0, update, &[BUCKETS + i * STEP]);
        p.run(0, other, &[0x1000]);
    }
    p.analyze().findings
}

fn verdict_of(findings: &prestore_dirtbuster::Findings) -> (Verdict, String) {
    let bucket = findings
        .findings
        .iter()
        .find(|f| f.sites.len() > 1 || f.stores > 30_000)
        .expect("the bucket's writes are found");
    (bucket.verdict, bucket.reason.clone())
}

#[test]
fn writes_to_a_line_that_an_atomic_took_are_left_alone() {
    let (verdict, reason) = verdict_of(&locked_writes(EventKind::AtomicRmw));
    assert_eq!(verdict, Verdict::LeaveAlone, "{reason}");
    assert!(reason.contains("atomics"), "{reason}");
}

#[test]
fn the_same_writes_without_the_lock_wait_for_the_fence() {
    let (verdict, reason) = verdict_of(&locked_writes(EventKind::Store));
    assert_eq!(verdict, Verdict::Clean, "{reason}");
}

/// A lock word and a payload elsewhere, of so many; taken, and given back by another function or by the same instruction.
fn given_back(takes: EventKind) -> prestore_dirtbuster::Findings {
    let mut p = Program::default();
    let draft = p.block(1, 0);
    let take = match takes {
        EventKind::AtomicRmw => draft.atomic(0, 0, 8).done(),
        _ => draft.load(0, 0, 8).done(),
    };
    let give_back = p.block(2, 0).compute(6).store(0, 0, 8).compute(4).done();
    let other = p.block(3, 0).atomic(0, 0, 8).compute(20).done();
    for i in 0..40_000 {
        let lock = BUCKETS + i * 7919 % 30_000 * STEP;
        p.run(0, take, &[lock]);
        p.run(0, give_back, &[lock]);
        p.run(0, other, &[0x1000]);
    }
    p.analyze().findings
}

#[test]
fn a_lock_that_another_function_gives_back_is_left_alone() {
    let verdict_of = |takes| {
        let findings = given_back(takes).findings;
        let of_second = |f: &&prestore_dirtbuster::Finding| f.sites[0].site.0 / 1000 == 2;
        let store = findings.iter().find(of_second).expect("it is found");
        (store.verdict, store.reason.clone())
    };
    let (verdict, reason) = verdict_of(EventKind::AtomicRmw);
    assert_eq!(verdict, Verdict::LeaveAlone, "{reason}");
    assert!(reason.contains("atomic has just taken"), "{reason}");
    let (verdict, reason) = verdict_of(EventKind::Load);
    assert_eq!(verdict, Verdict::Clean, "{reason}");
}
