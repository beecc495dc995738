//! Non-temporal stores that are there already.

use prestore_dirtbuster::{PitfallKind, Verdict};

use crate::existing::only;
use crate::synthetic::Program;
use crate::{HEAP, of_site};

#[test]
fn copies_that_skip_the_cache_but_for_their_ends_are_not_told_to_skip() {
    let mut p = Program::default();
    let body = p
        .block(1, 0)
        .nt_store(0, 0, 32)
        .nt_store(0, 32, 32)
        .compute(4)
        .done();
    let ends = p
        .block(1, 10)
        .store(0, 0, 32)
        .store(0, 32, 32)
        .compute(8)
        .done();
    for block in 0..1000 {
        let at = HEAP + block * 4096;
        p.run(0, ends, &[at]);
        (1..63).for_each(|i| p.run(0, body, &[at + i * 64]));
        p.run(0, ends, &[at + 63 * 64]);
    }
    let f = p.analyze().findings;
    let place = of_site(&f, 1000);
    assert!(place.sites.iter().any(|s| s.site.0 == 1010), "{place:#?}");
    assert_eq!(place.verdict, Verdict::LeaveAlone, "{place:#?}");
    assert!(place.reason.contains("97%"), "{}", place.reason);
}

#[test]
fn whole_lines_written_around_the_cache_are_right_and_parts_are_a_pitfall() {
    let run = |width: u64, step: u64| {
        let mut p = Program::default();
        let store = p.block(1, 0).nt_store(0, 0, width as u32).compute(2).done();
        for i in 0..8000 {
            p.run(0, store, &[HEAP + i * step]);
        }
        p.analyze().findings
    };
    assert_eq!(run(32, 32).pitfalls, []);
    let f = run(32, 64);
    assert_eq!(only(&f, PitfallKind::PartialNonTemporalLine).affected, 8000);
}

#[test]
fn non_temporal_stores_of_what_is_used_again_at_once_are_a_pitfall() {
    let run = |again: &str| {
        let mut p = Program::default();
        let draft = p.block(1, 0).nt_store(0, 0, 64).compute(8);
        let block = match again {
            "read" => draft.load(0, 0, 8).done(),
            _ => draft.done(),
        };
        for i in 0..32_000 {
            let line = if again == "written" { i % 128 } else { i };
            p.run(0, block, &[HEAP + line * 64]);
        }
        p.analyze().findings
    };
    assert_eq!(run("never").pitfalls, []);
    for (again, word, affected) in [("read", "read", 32_000), ("written", "written", 31_872)] {
        let f = run(again);
        let found = only(&f, PitfallKind::NonTemporalOfNearData);
        assert_eq!((found.site.0, found.executed), (1000, 32_000), "{again}");
        assert_eq!(found.affected, affected, "{again}");
        assert!(found.reason.contains(word), "{}", found.reason);
    }
}

#[test]
fn few_reads_of_what_has_just_skipped_the_cache_are_a_pitfall_if_they_come_at_once() {
    let run = |row: u64, behind: u64| {
        let mut p = Program::default();
        let write = p.block(1, 0).nt_store(0, 0, 64).compute(2).done();
        let read = p.block(2, 0).load(0, 0, 8).compute(2).done();
        for line in 0..32_000 {
            p.run(0, write, &[HEAP + line * 64]);
            if line >= behind && line % row == 0 {
                p.run(0, read, &[HEAP + (line - behind) * 64]);
            }
        }
        p.analyze().findings.pitfalls
    };
    let at_once = run(16, 0);
    assert_eq!(at_once.len(), 1, "{at_once:#?}");
    assert_eq!(at_once[0].kind, PitfallKind::NonTemporalOfNearData);
    assert_eq!(at_once[0].affected, 2000);
    assert_eq!(run(128, 0), [], "too few");
    assert_eq!(run(16, 8000), [], "much later");
}

#[test]
fn non_temporal_stores_to_many_streams_leave_in_parts() {
    let mut p = Program::default();
    let store = p.block(1, 0).nt_store(0, 0, 8).compute(2).done();
    for i in 0..64_000 {
        p.run(0, store, &[HEAP + i % 64 * 0x10_0000 + i / 64 * 8]);
    }
    let f = p.analyze().findings;
    assert_eq!(
        only(&f, PitfallKind::PartialNonTemporalLine).affected,
        64_000
    );
}
