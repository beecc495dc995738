//! One behaviour a test: what counts as a context, a re-read, a re-write, and to whom it counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic as the tests do"
)]

mod synthetic;

use prestore_dirtbuster::{
    Analyzer, Finding, Findings, ProgramTotals, ThreadTotals, Thresholds, Verdict,
};
use prestore_trace::record::{AllocKind, Special};
use prestore_trace::replay::ReplayError;
use prestore_trace::{FenceKind, ProcessId, SiteId, SiteTable, ThreadId};
use synthetic::copy::Copy;
use synthetic::{GENERIC, Numbers, Program, SITES, everything};

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
fn a_context_survives_many_others_temporaries_and_long_pauses() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 64).done();
    let spill = p.block(1, 10).store(0, -8, 8).done();
    for line in 0..32 {
        for stream in 0..1000 {
            p.run(0, store, &[HEAP + stream * 0x10_0000 + line * 64]);
            p.run(0, spill, &[STACK]);
        }
        p.compute(0, 100_000);
    }
    let out = p.analyze();
    assert_eq!(sizes(of_site(&out.findings, 1000)), [(2048, 1000)]);
}

#[test]
fn a_write_after_a_very_long_pause_begins_a_context() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 64).done();
    for line in 0..64 {
        if line == 32 {
            p.compute(0, 300_000);
        }
        p.run(0, store, &[HEAP + line * 64]);
    }
    let out = p.analyze();
    assert_eq!(sizes(of_site(&out.findings, 1000)), [(2048, 2)]);
}

#[test]
fn descending_writes_are_sequential() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    for i in (0..512).rev() {
        p.run(0, store, &[HEAP + i * 8]);
    }
    let f = p.analyze().findings;
    assert_eq!(sizes(of_site(&f, 1000)), [(4096, 1)]);
    assert_eq!(of_site(&f, 1000).rewrite.share, 0.0);
}

#[test]
fn a_vectorised_copy_of_any_size_is_one_context_without_rewrites() {
    for to in [HEAP, HEAP + 8, HEAP + 40] {
        for n in 160..1200 {
            let mut p = Program::default();
            let copy = Copy::new(&mut p);
            let call = p.block(1, 0).call().done();
            p.run(0, call, &[]);
            copy.run(&mut p, 0, to, n);
            let f = p.analyze().findings;
            let f = of_site(&f, f.findings[0].sites[0].site.0);
            // A vector that lies just too far ahead may stay by itself.
            assert_eq!(f.contexts.len(), 1, "{n} bytes to {to:#x}: {f:#?}");
            assert!(
                f.contexts[0].bytes + 32 >= n,
                "{n} bytes to {to:#x}: {f:#?}"
            );
            assert_eq!(f.rewrite.share, 0.0, "{n} bytes to {to:#x}");
        }
    }
}

#[test]
fn a_read_by_another_function_and_thread_counts_for_the_writer() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).compute(9).done();
    let load = p.block(2, 0).load(0, 0, 8).compute(9).done();
    p.run(0, store, &[HEAP]);
    p.run(1, load, &[STACK]);
    p.run(1, load, &[HEAP]);
    let f = p.analyze().findings;
    let f = of_site(&f, 1000);
    assert_eq!(f.reread.share, 1.0);
    // The reader began when the writer had executed 10 instructions.
    assert_eq!(f.reread.mean, Some(20.0));
}

#[test]
fn the_first_read_counts_once_and_again_after_the_next_writing() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    let load = p.block(2, 0).load(0, 0, 8).compute(1).done();
    for _ in 0..2 {
        p.run(0, store, &[HEAP]);
        for _ in 0..3 {
            p.run(0, load, &[HEAP + 8]);
        }
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1000);
    assert_eq!((f.reread.mean, f.reread.share), (Some(1.0), 1.0));
    assert_eq!((f.rewrite.mean, f.rewrite.share), (Some(7.0), 0.5));
}

#[test]
fn the_load_of_a_counter_reads_its_last_increment() {
    let mut p = Program::default();
    let count = p.block(1, 0).increment(0, 0, 8).compute(9).done();
    for _ in 0..11 {
        p.run(0, count, &[HEAP]);
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1001);
    assert_eq!((f.reread.mean, f.rewrite.mean), (Some(10.0), Some(10.0)));
    assert_eq!(f.rewrite.share, 10.0 / 11.0);
}

#[test]
fn a_header_by_one_function_and_its_body_by_another_are_one_writing() {
    let mut p = Program::default();
    let header = p.block(1, 0).store(0, 0, 16).done();
    let body = p.block(2, 0).store(0, 0, 16).done();
    for object in 0..100 {
        let at = HEAP + object * 512;
        p.run(0, header, &[at]);
        for i in (16..256).step_by(16) {
            p.run(0, body, &[at + i]);
        }
    }
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).rewrite.share, 0.0);
    assert_eq!(of_site(&f, 2000).rewrite.share, 0.0);
    assert_eq!(sizes(of_site(&f, 2000)), [(240, 100)]);
}

#[test]
fn two_loops_of_a_function_are_two_findings_and_the_stores_of_one_loop_are_one() {
    let mut p = Program::default();
    let first = p.block(1, 0).store(0, 0, 32).store(0, 32, 32).done();
    let second = p.block(1, 10).store(0, 0, 32).store(0, 32, 32).done();
    for line in 0..100 {
        p.run(0, first, &[HEAP + line * 64]);
    }
    for line in 0..200 {
        p.run(0, second, &[HEAP + 0x10_0000 + line * 64]);
    }
    let f = p.analyze().findings;
    let sites: Vec<Vec<u32>> = f
        .findings
        .iter()
        .map(|f| f.sites.iter().map(|s| s.site.0).collect())
        .collect();
    assert_eq!(sites, [vec![1010, 1011], vec![1000, 1001]]);
}

#[test]
fn generic_code_is_reported_by_its_first_caller_that_is_not() {
    let mut p = Program::default();
    let copy = Copy::new(&mut p);
    let outer = p.block(3, 0).compute(1).call().done();
    let call_a = p.block(1, 0).compute(1).call().done();
    let back_a = p.block(1, 1).compute(1).ret().after(call_a).done();
    let back_outer = p.block(3, 5).compute(1).after(outer).done();
    let call_b = p.block(2, 0).compute(1).call().done();
    let wrapper = p.block(GENERIC + 1, 0).compute(1).call().done();
    let back_b = p.block(2, 1).compute(1).after(call_b).done();
    for i in 0..100 {
        p.run(0, outer, &[]);
        p.run(0, call_a, &[]);
        copy.run(&mut p, 0, HEAP + i * 0x1000, 1024);
        p.run(0, back_a, &[]);
        p.run(0, back_outer, &[]);
        p.run(0, call_b, &[]);
        p.run(0, wrapper, &[]);
        copy.run(&mut p, 0, HEAP + 0x100_0000 + i * 0x1000, 256);
        p.run(0, back_b, &[]);
    }
    let f = p.analyze().findings;
    let chains: Vec<&[SiteId]> = f.findings.iter().map(|f| &f.call_chain[..]).collect();
    assert_eq!(
        chains,
        [
            &[SiteId(SITES), SiteId(3 * SITES)][..],
            &[SiteId(2 * SITES)][..]
        ]
    );
    assert!(f.findings.iter().all(|f| f.generic_writer));
    assert_eq!(f.findings[1].contexts[0].bytes, 256);
}

#[test]
fn a_scope_tracks_its_functions_only_but_sees_what_others_do_to_their_lines() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    let other = p.block(2, 0).store(0, 0, 8).done();
    let load = p.block(3, 0).load(0, 0, 8).done();
    for line in 0..10 {
        p.run(0, store, &[HEAP + line * 64]);
        p.run(0, load, &[HEAP + line * 64]);
        p.run(0, other, &[HEAP + line * 64]);
        p.run(0, load, &[HEAP + line * 64]);
    }
    let out = p.analyze_with(Analyzer::new(everything(), Numbers).with_scope([1]));
    let f = &out.findings;
    assert_eq!(f.findings.len(), 1);
    assert_eq!(
        (f.findings[0].rewrite.mean, f.findings[0].rewrite.share),
        (Some(2.0), 1.0)
    );
    assert_eq!(
        (f.findings[0].reread.mean, f.findings[0].reread.share),
        (Some(1.0), 1.0)
    );
    assert_eq!(f.stores, 20, "the others' stores are still the program's");
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
fn data_is_traced_to_its_allocation() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 32).done();
    let kind = AllocKind::Malloc;
    p.special(
        0,
        Special::Alloc {
            addr: HEAP,
            size: 4096,
            caller: 77,
            kind,
        },
    );
    p.special(
        0,
        Special::Alloc {
            addr: HEAP + 4096,
            size: 64,
            caller: 78,
            kind,
        },
    );
    for at in (0..4096 + 64).step_by(32).filter(|at| *at != 2048) {
        p.run(0, store, &[HEAP + at]);
    }
    p.special(
        0,
        Special::Free {
            addr: HEAP,
            caller: 79,
        },
    );
    let f = p.analyze().findings;
    // Sites of callers are made as they are met: this is the first.
    assert_eq!(of_site(&f, 1000).allocations[0].0, SiteId(0));
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
fn address_spaces_are_apart() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    let load = p.block(2, 0).load(0, 0, 8).done();
    p.run(0, store, &[HEAP]);
    p.run(1, load, &[HEAP]);
    let mut analyzer = Analyzer::new(everything(), Numbers);
    for (process, (thread, words)) in p.buffers.iter().enumerate() {
        let process = ProcessId(process as u32);
        analyzer
            .feed(
                process,
                ThreadId(*thread),
                &p.table,
                &mut SiteTable::default(),
                words,
            )
            .expect("whole words");
    }
    let f = analyzer.finish().findings;
    assert_eq!(f.findings[0].reread.share, 0.0);
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
