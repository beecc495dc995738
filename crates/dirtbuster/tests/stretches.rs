//! Long runs of which stretches are looked at: no part of the run weighs more than another.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod synthetic;

use prestore_dirtbuster::{Analyzer, Findings, Seen, Verdict};
use prestore_trace::record::Special;
use prestore_trace::{ProcessId, SiteTable, ThreadId};
use synthetic::{Numbers, Program, everything};

const DENSE: u64 = 4;
const THINNEST: u64 = 16;
const LINES: u64 = 64;
/// Records that come together.
const CHUNK: u64 = 16;

/// Does the recorder keep the window?
fn recorded(number: u64) -> bool {
    let every = match number {
        0..DENSE => 1,
        DENSE..16 => 4,
        _ => 16,
    };
    number.is_multiple_of(every)
}

/// Function 1 writes in all of so many windows, function 2 in the second half of 64.
fn program(windows: u64) -> Program {
    let mut p = Program::default();
    let (always, late) = (
        p.block(1, 0).store(0, 0, 64).done(),
        p.block(2, 0).store(0, 0, 64).done(),
    );
    for number in 0..windows {
        if !recorded(number) {
            p.compute(0, LINES);
            continue;
        }
        p.special(0, Special::Window { number });
        for line in number * LINES..(number + 1) * LINES {
            p.run(0, always, &[0x10_0000 + 64 * line]);
            if number >= 32 {
                p.run(0, late, &[0x1000_0000 + 64 * line]);
            }
        }
    }
    p
}

fn analyzed(windows: u64) -> (Findings, Seen) {
    analyzed_in(&program(windows), LINES)
}

fn analyzed_in(program: &Program, length: u64) -> (Findings, Seen) {
    let mut sites = SiteTable::default();
    let mut analyzer = Analyzer::new(everything(), Numbers).with_stretches(length, DENSE, THINNEST);
    for (thread, words) in &program.buffers {
        // As buffers come: a few records each.
        for words in words.chunks(2 * CHUNK as usize) {
            let table = &program.table;
            let fed = analyzer.feed(ProcessId(0), ThreadId(*thread), table, &mut sites, words);
            assert_eq!(fed, Ok(words.len()));
        }
    }
    let outcome = analyzer.finish();
    (outcome.findings, outcome.seen)
}

/// Stores and stretches of both functions.
fn both(findings: &Findings) -> Vec<(u32, u64, u64)> {
    let all = findings.findings.iter();
    let mut all: Vec<_> = all
        .map(|f| (f.sites[0].site.0 / 1000, f.stores, f.stretches))
        .collect();
    all.sort_unstable();
    all
}

/// The buffers in which parts begin count to the parts before: by so much less, in all.
fn assert_close(found: &[(u32, u64, u64)], expected: &[(u32, u64, u64)], less: u64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let off = expected.1 - found.1;
        assert!(off <= less * CHUNK, "{found:?}, not {expected:?}");
        assert_eq!((found.0, found.2), (expected.0, expected.2));
    }
}

/// An array is swept over and over, so much of it in a stretch, in 64 of them.
fn swept(array_mb: u64, stretch_mb: u64) -> (Verdict, String) {
    const MB: u64 = (1 << 20) / 64;
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 64).done();
    let length = stretch_mb * MB;
    for number in 0..64 {
        if !recorded(number) {
            p.compute(0, length);
            continue;
        }
        p.special(0, Special::Window { number });
        for line in number * length..(number + 1) * length {
            p.run(0, write, &[0x10_0000 + 64 * (line % (array_mb * MB))]);
        }
    }
    let finding = &analyzed_in(&p, length).0.findings[0];
    (finding.verdict, finding.reason.clone())
}

/// What is written again when 16 MB have come was far by then, though nobody saw 12 of them come.
#[test]
fn what_was_written_before_a_gap_is_far_behind_it() {
    assert_eq!(swept(16, 4).0, Verdict::Skip);
}

/// Of what is written last before a gap it was not seen that it is written again at once.
#[test]
fn what_is_written_last_before_a_gap_is_not_said_to_leave() {
    assert_eq!(swept(4, 6).0, Verdict::LeaveAlone);
    assert_eq!(swept(64, 6).0, Verdict::Skip);
}

/// Of 6 MB that are written in a stretch nothing is known; of 32 MB the last 10.
#[test]
fn advice_says_where_it_rests_on_few_lines() {
    for (stretch, open) in [(6, true), (32, false)] {
        let (verdict, reason) = swept(64, stretch);
        assert_eq!(verdict, Verdict::Skip);
        let says = reason.contains("`--budget all` looks at everything");
        assert_eq!(says, open, "{reason}");
    }
}

#[test]
fn a_short_run_is_looked_at_whole() {
    let (findings, seen) = analyzed(DENSE);
    assert_eq!((seen.every, seen.stretches), (1, DENSE));
    assert_eq!(both(&findings), [(1, DENSE * LINES, 0)]);
}

#[test]
fn what_was_looked_at_closely_weighs_no_more_later() {
    let (findings, seen) = analyzed(DENSE + 1);
    // The last one stands for three that were not to be any more.
    assert_eq!((seen.every, seen.stretches), (4, DENSE + 1));
    assert_close(&both(&findings), &[(1, (DENSE + 4) * LINES, DENSE + 1)], 3);
    // Of the ten that were recorded eight are in the first half of the run.
    let (findings, seen) = analyzed(64);
    assert_eq!((seen.every, seen.stretches), (16, 10));
    let expected = [(1, 64 * LINES, 10), (2, 32 * LINES, 2)];
    assert_close(&both(&findings), &expected, 3 + 12);
    let off = findings.instructions.abs_diff(96 * LINES);
    assert!(off <= (3 + 12) * CHUNK, "{off}");
}
