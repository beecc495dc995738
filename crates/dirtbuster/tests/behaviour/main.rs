//! One behaviour a test: what counts as a context, a re-read, a re-write, and to whom it counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic as the tests do"
)]

mod contexts;
mod cost;
mod existing;
mod fresh;
mod larger;
mod near;
mod non_temporal;
mod shared;
mod streams;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod taken;
mod whose;

use prestore_dirtbuster::{
    Analyzer, Finding, Findings, ProgramTotals, ThreadTotals, Thresholds, Verdict,
};
use prestore_trace::replay::ReplayError;
use prestore_trace::{FenceKind, ProcessId, SiteId, SiteTable, ThreadId};
use synthetic::{Numbers, Program, everything};

const HEAP: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7ffc_0000_0000;

#[track_caller]
fn of_site(f: &Findings, site: u32) -> &Finding {
    let has = |f: &&Finding| f.sites.iter().any(|s| s.site == SiteId(site));
    f.findings
        .iter()
        .find(has)
        .unwrap_or_else(|| panic!("no finding with {site}: {f:#?}"))
}

fn sizes(f: &Finding) -> Vec<(u64, u64)> {
    f.contexts.iter().map(|c| (c.bytes, c.count)).collect()
}

#[test]
fn counts_are_exact_also_for_blocks_cut_short_and_repeated_stores() {
    let mut p = Program::default();
    let three = p
        .block(1, 0)
        .store(0, 0, 8)
        .load(0, 64, 8)
        .store(0, 8, 4)
        .done();
    let fill = p.block(2, 0).rep_store(0, 1, 8).done();
    for _ in 0..10 {
        p.run(0, three, &[HEAP]);
    }
    p.run_cut(0, three, &[HEAP], 2);
    p.run_cut(1, three, &[HEAP], 0);
    p.run(1, fill, &[HEAP, 100]);
    let out = p.analyze();
    let counts: Vec<(u32, u64, u64)> = out
        .counts
        .iter()
        .map(|c| (c.site.0, c.stores, c.bytes))
        .collect();
    assert_eq!(counts, [(1000, 11, 88), (1002, 10, 40), (2000, 1, 800)]);
    assert_eq!((out.findings.loads, out.findings.stores), (11, 22));
    assert_eq!(out.findings.instructions, 33);
}

#[test]
fn an_atomic_is_the_fence_of_earlier_writes_and_not_of_its_own() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).compute(4).done();
    let atomic = p.block(2, 0).atomic(0, 0, 8).compute(1).done();
    let lfence = p.block(3, 0).fence(FenceKind::Load).done();
    for i in 0..10 {
        p.run(0, store, &[HEAP + i * 64]);
        p.run(0, lfence, &[]);
        p.run(0, atomic, &[STACK]);
    }
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).fence_distance.min, Some(6));
    assert_eq!(of_site(&f, 1000).fence_distance.median, Some(6));
    assert_eq!(of_site(&f, 2000).fence_distance.min, Some(8));
    assert_eq!(f.fences, 10);
}

/// Repeated stores of so many bytes, with a fence behind each; every so many rounds the thread `reader` reads the first of them.
fn filled_before_fences(rounds: u32, bytes: u64, reader: u32, every: u32) -> Finding {
    let mut p = Program::default();
    let fill = p.block(1, 0).rep_store(0, 1, 1).compute(2).done();
    let fence = p.block(2, 0).fence(FenceKind::Full).done();
    let take = p.block(3, 0).load(0, 0, 64).done();
    for round in 1..=rounds {
        p.run(0, fill, &[HEAP, bytes]);
        p.run(0, fence, &[]);
        if !round.is_multiple_of(every) {
            continue;
        }
        for line in (0..bytes.min(1024)).step_by(64) {
            p.run(reader, take, &[HEAP + line]);
        }
    }
    of_site(&p.analyze().findings, 1000).clone()
}

#[test]
fn what_is_over_at_once_gets_no_advice() {
    let long = filled_before_fences(400, 1024, 1, 1);
    assert_eq!(long.verdict, Verdict::Demote, "{long:#?}");
    let short = filled_before_fences(15, 1024, 1, 1);
    assert_eq!(short.verdict, Verdict::LeaveAlone, "{short:#?}");
    assert!(short.reason.starts_with("Over at once: "), "{short:#?}");
    assert_eq!(short.dismissed.unwrap().verdict, Verdict::Demote);
}

#[test]
fn what_only_its_own_core_uses_is_demoted_with_a_caution() {
    let caution = "No other thread was seen to use these lines";
    // A buffer on the stack that is filled, copied elsewhere, and followed by a lock.
    let own = filled_before_fences(400, 1024, 0, 1);
    assert_eq!(own.verdict, Verdict::Demote, "{own:#?}");
    assert!(own.reason.contains(caution), "{}", own.reason);
    // A message: its reader's buffer may be looked at long after many writings.
    let message = filled_before_fences(400, 1024, 1, 200);
    assert_eq!(message.verdict, Verdict::Demote, "{message:#?}");
    assert!(!message.reason.contains(caution), "{}", message.reason);
}

/// Pieces of so many bytes, each so far into a line, all apart.
fn pieces(bytes: u64, into: u64) -> Finding {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 4).compute(2).done();
    for piece in 0..5000 {
        for at in (0..bytes).step_by(4) {
            p.run(0, write, &[HEAP + piece * 4096 + into + at]);
        }
    }
    of_site(&p.analyze().findings, 1000).clone()
}

#[test]
fn pieces_that_end_within_lines_are_cleaned_and_not_skipped() {
    for (bytes, into, verdict) in [
        (192, 0, Verdict::Skip),
        (192, 16, Verdict::Clean),
        (180, 0, Verdict::Clean),
        (1024, 16, Verdict::Skip),
    ] {
        let f = pieces(bytes, into);
        assert_eq!(f.verdict, verdict, "{bytes}, {into}: {f:#?}");
        let in_part = f.reason.contains("written in part");
        assert_eq!(in_part, verdict == Verdict::Clean, "{}", f.reason);
    }
}

/// Rows of so many bytes of every 80, one behind the other.
fn rows(bytes: u64) -> Finding {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 4).compute(2).done();
    for row in 0..20_000 {
        for at in (0..bytes).step_by(4) {
            p.run(0, write, &[HEAP + row * 80 + at]);
        }
    }
    of_site(&p.analyze().findings, 1000).clone()
}

#[test]
fn lines_with_gaps_are_cleaned_and_not_skipped() {
    for (bytes, verdict) in [(68, Verdict::Clean), (80, Verdict::Skip)] {
        let f = rows(bytes);
        assert!(f.sequential_share > 0.99, "{bytes}: {f:#?}");
        assert_eq!(f.verdict, verdict, "{bytes}: {f:#?}");
        let in_part = f.reason.contains("written in part");
        assert_eq!(in_part, verdict == Verdict::Clean, "{}", f.reason);
    }
}

/// Two instructions that take turns, each for every other word: what one leaves out the other writes.
#[test]
fn gaps_that_are_filled_by_turns_are_none() {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 8).store(1, 0, 8).done();
    for pair in 0..100_000 {
        let at = HEAP + pair * 16;
        p.run(0, write, &[at + 8, at]);
    }
    let f = of_site(&p.analyze().findings, 1000).clone();
    assert_eq!(f.verdict, Verdict::Skip, "{f:#?}");
}

/// Elements of an array of so many bytes, which is filled again and again, with an atomic after every so many.
fn filled_with_atomics(bytes: u64, every: u64) -> Finding {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 4).compute(2).done();
    let atomic = p.block(2, 0).atomic(0, 0, 8).compute(6).done();
    for round in 0..8 {
        for at in (0..bytes).step_by(4) {
            p.run(0, write, &[HEAP + at]);
            if (at / 4 + round).is_multiple_of(every) {
                p.run(0, atomic, &[HEAP - 4096]);
            }
        }
    }
    of_site(&p.analyze().findings, 1000).clone()
}

#[test]
fn advice_to_demote_warns_of_fences_amid_the_lines() {
    let amid = filled_with_atomics(1 << 19, 1);
    assert_eq!(amid.verdict, Verdict::Demote, "{amid:#?}");
    assert!(amid.reason.contains("Beware: in 100%"), "{}", amid.reason);
    let behind = filled_with_atomics(1 << 19, 128);
    assert_eq!(behind.verdict, Verdict::Demote, "{behind:#?}");
    assert!(!behind.reason.contains("Beware"), "{}", behind.reason);
}

#[test]
fn a_fence_waits_for_the_end_of_a_long_repeated_store_only() {
    let message = filled_before_fences(400, 1024, 1, 1);
    let table = filled_before_fences(20, 4 << 20, 1, 1);
    // 32 bytes an instruction: half of the message was written 15 instructions before its end.
    let median = message.fence_distance.median.unwrap();
    assert!((15..=19).contains(&median), "{message:#?}");
    assert_eq!(message.verdict, Verdict::Demote, "{message:#?}");
    // Most of the table has left the core's buffers when the fence comes.
    assert!(
        table.fence_distance.median.is_none_or(|m| m > 10_000),
        "{table:#?}"
    );
    assert_ne!(table.verdict, Verdict::Demote, "{table:#?}");
}

#[test]
fn a_fence_of_another_thread_is_none() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    let fence = p.block(2, 0).fence(FenceKind::Full).done();
    p.run(0, store, &[HEAP]);
    p.run(1, fence, &[]);
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).fence_distance.min, None);
    assert_eq!(of_site(&f, 1000).fence_distance.median, None);
}

#[test]
fn non_temporal_stores_need_no_advice() {
    let mut p = Program::default();
    let store = p.block(1, 0).nt_store(0, 0, 32).done();
    for i in 0..1000 {
        p.run(0, store, &[HEAP + i * 32]);
    }
    let f = p.analyze().findings;
    assert_eq!(f.findings[0].verdict, Verdict::LeaveAlone);
    assert!(
        f.findings[0].reason.contains("non-temporal"),
        "{}",
        f.findings[0].reason
    );
}

#[test]
fn given_totals_decide_shares_in_a_filtered_recording() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 32).done();
    for i in 0..1000 {
        p.run(0, store, &[HEAP + i * 32]);
    }
    let totals = ProgramTotals {
        instructions: 1_000_000,
        stores: 4000,
    };
    let f = p
        .analyze_with(Analyzer::new(everything(), Numbers).with_totals(totals))
        .findings;
    assert!(!f.write_intensive);
    assert_eq!((f.store_fraction, f.findings[0].store_share), (0.004, 0.25));
    assert!(f.findings[0].reason.contains("not write-intensive"));
}

#[test]
fn an_unknown_block_is_an_error_and_what_came_before_counts() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    p.run(0, store, &[HEAP]);
    let mut words = p.buffers[0].1.clone();
    words.push(9999);
    let mut analyzer = Analyzer::new(Thresholds::default(), Numbers);
    let fed = analyzer.feed(
        ProcessId(0),
        ThreadId(0),
        &p.table,
        &mut SiteTable::default(),
        &words,
    );
    assert_eq!(fed, Err(ReplayError::UnknownBlock { id: 9999 }));
    assert_eq!(analyzer.finish().findings.stores, 1);
}

#[test]
fn the_same_input_gives_the_same_findings() {
    let mut p = Program::default();
    let blocks: Vec<u32> = (1..40)
        .map(|f| p.block(f, 0).store(0, 0, 16).done())
        .collect();
    for i in 0..20_000u64 {
        let block = blocks[(i * 7 % 39) as usize];
        p.run((i / 100 % 3) as u32, block, &[HEAP + i * 0x9e37 % 0x8000]);
    }
    assert_eq!(p.analyze().findings, p.analyze().findings);
}

#[test]
fn memory_is_bounded_by_the_lines_written() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    for pass in 0..20u64 {
        for i in 0..4096u64 {
            // Another order each pass, so that streaks come and go.
            let line = (i * (2 * pass + 1)) % 4096;
            p.run(0, store, &[HEAP + line * 64]);
        }
    }
    let out = p.analyze();
    assert!(
        out.memory_bytes < 4096 * 256 + (64 << 10),
        "{}",
        out.memory_bytes
    );
}

#[test]
fn thresholds_are_set_by_name_and_checked() {
    let mut t = Thresholds::default();
    assert_eq!(t.set("fence_window", 50.0), Ok(()));
    assert_eq!(t.fence_window, 50);
    let listed = t.list();
    assert!(
        listed
            .iter()
            .any(|l| l.name == "fence_window" && l.value == 50.0)
    );
    assert!(listed.iter().all(|l| l.doc.len() > 20));
    assert!(t.set("fence_windows", 50.0).is_err());
    assert!(t.set("min_density", 1.5).is_err());
    assert!(t.set("max_pause", -1.0).is_err());
    assert!(t.set("max_pause", f64::NAN).is_err());
}

#[test]
fn each_thread_has_its_own_totals() {
    let mut p = Program::default();
    let work = p.block(1, 0).load(0, 0, 8).store(0, 0, 8).compute(8).done();
    let lock = p.block(1, 10).atomic(0, 0, 8).done();
    for _ in 0..3 {
        p.run(0, work, &[HEAP]);
    }
    p.run(4, work, &[HEAP]);
    p.run(4, lock, &[HEAP]);
    p.compute(4, 1000);
    let out = p.analyze();
    let totals = |t: &ThreadTotals| (t.thread.0, t.instructions, t.stores, t.loads, t.fences);
    let all: Vec<_> = out.threads.iter().map(totals).collect();
    assert_eq!(all, [(0, 30, 3, 3, 0), (4, 11, 2, 2, 1)]);
}
