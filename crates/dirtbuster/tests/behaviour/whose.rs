//! To whom it counts: threads, functions, callers, allocations.

use prestore_dirtbuster::{Analyzer, Verdict};
use prestore_trace::record::{AllocKind, Special};
use prestore_trace::{ProcessId, SiteId, SiteTable, ThreadId};

use crate::synthetic::copy::Copy;
use crate::synthetic::{GENERIC, Numbers, Program, SITES, everything};
use crate::{HEAP, STACK, of_site, sizes};

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

/// A table that grows, and what it refers to: side by side while they are small, and the function stores into both. Advice about the
/// one named the other's line.
#[test]
fn arrays_that_lay_side_by_side_once_are_two_findings() {
    let mut p = Program::default();
    let value = p.block(1, 0).store(0, 0, 8).compute(4).done();
    let second = p.block(1, 5).store(0, 8, 8).compute(4).done();
    let bucket = p.block(1, 10).store(0, 0, 8).compute(4).done();
    for small in 0..20u64 {
        let at = HEAP + small * 4096;
        for i in 0..8 {
            p.run(0, value, &[at + i * 16]);
            p.run(0, second, &[at + i * 16]);
        }
        for i in 0..8 {
            p.run(0, bucket, &[at + 128 + i * 8]);
        }
    }
    let mut random = 1u64;
    for i in 0..400_000u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
        p.run(0, value, &[HEAP + (1 << 30) + i * 16]);
        p.run(0, second, &[HEAP + (1 << 30) + i * 16]);
        p.run(0, bucket, &[HEAP + (2 << 30) + (random >> 40) * 8]);
    }
    let f = p.analyze().findings;
    let (values, buckets) = (of_site(&f, 1000), of_site(&f, 1010));
    assert_eq!(values.sites.len(), 2, "{values:#?}");
    assert_eq!(values.verdict, Verdict::Skip, "{values:#?}");
    assert_eq!(buckets.sites.len(), 1, "{buckets:#?}");
    assert_eq!(buckets.verdict, Verdict::LeaveAlone, "{buckets:#?}");
}

/// Arrays lie one behind the other, and each has a loop of its own: the second began where the first had stopped, and was part of it for
/// the rest of its array. Where the arrays meet within a line it is shared.
#[test]
fn loops_over_neighbouring_arrays_are_two_findings() {
    for shared in [0, 24] {
        let mut p = Program::default();
        let first = p.block(1, 0).store(0, 0, 8).compute(3).done();
        let second = p.block(1, 10).store(0, 0, 8).compute(3).done();
        let bytes = (2 << 20) + shared;
        for _ in 0..3 {
            for (array, block) in [(0, first), (1, second)] {
                for i in 0..bytes / 8 {
                    p.run(0, block, &[HEAP + array * bytes + i * 8]);
                }
            }
        }
        let f = p.analyze().findings;
        for site in [1000, 1010] {
            let found = of_site(&f, site);
            assert_eq!(found.sites.len(), 1, "{found:#?}");
            let [(size, 3)] = sizes(found)[..] else {
                panic!("{shared}: {found:#?}");
            };
            assert!(size.abs_diff(bytes) < 64, "{shared}: {found:#?}");
        }
    }
}

/// Branches of one loop that take turns, the second for the first time when much has been written.
#[test]
fn stores_that_take_turns_in_an_array_are_one_finding() {
    let mut p = Program::default();
    let often = p.block(1, 0).store(0, 0, 16).compute(3).done();
    let seldom = p.block(1, 10).store(0, 0, 16).compute(3).done();
    for i in 0..200_000u64 {
        let is_seldom = i > 5000 && i % 37 < 9;
        p.run(0, if is_seldom { seldom } else { often }, &[HEAP + i * 16]);
    }
    let f = p.analyze().findings;
    let found = of_site(&f, 1000);
    assert_eq!(found.sites.len(), 2, "{found:#?}");
    assert_eq!(sizes(found), [(3_200_000, 1)], "{found:#?}");
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

/// A function that allocates and clears, called once from each of many places: none of them is frequent, and who called `memset` is
/// the same in all.
#[test]
fn who_calls_generic_code_is_known_however_many_call_that() {
    for outer_calls in [4, 5, 6, 40] {
        let mut p = Program::default();
        let copy = Copy::new(&mut p);
        let call = p.block(1, 0).compute(1).call().done();
        let back = p.block(1, 1).compute(1).ret().after(call).done();
        for i in 0..outer_calls {
            let outer = p.block(2, 2 * i).compute(1).call().done();
            let next = p.block(2, 2 * i + 1).compute(1).after(outer).done();
            p.run(0, outer, &[]);
            p.run(0, call, &[]);
            copy.run(&mut p, 0, HEAP + u64::from(i) * 0x1_0000, 0x1_0000);
            p.run(0, back, &[]);
            p.run(0, next, &[]);
        }
        let f = p.analyze().findings;
        let first = &f.findings[0].call_chain;
        assert_eq!(first.len(), 2, "{outer_calls}: {first:?}");
        assert_eq!(first[0], SiteId(SITES), "{outer_calls}: {first:?}");
    }
}

/// What a line calls (a destructor, say) clears an array and gives back its nodes: advice would be about all that it writes. What is
/// written again is two fifths of the bytes, which says nothing against the rest, or two thirds.
#[test]
fn a_line_that_mostly_writes_what_is_written_again_gets_no_advice_for_the_rest() {
    for (small, verdict) in [(500, Verdict::Skip), (1100, Verdict::LeaveAlone)] {
        let mut p = Program::default();
        let store = p.block(GENERIC + 3, 0).store(0, 0, 64).compute(4).done();
        let link = p.block(GENERIC + 3, 10).store(0, 0, 8).compute(4).done();
        let call = p.block(1, 0).compute(1).call().done();
        let back = p.block(1, 5).compute(1).ret().after(call).done();
        let mut random = 1u64;
        for round in 0..200 {
            p.run(0, call, &[]);
            (0..96).for_each(|i| p.run(0, store, &[HEAP + round * 0x2000 + i * 64]));
            for _ in 0..small {
                random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
                p.run(0, link, &[HEAP + (1 << 30) + (random >> 52) * 64]);
            }
            p.run(0, back, &[]);
        }
        let f = p.analyze().findings;
        let place = of_site(&f, GENERIC * SITES + 3 * SITES);
        assert!(place.sequential_share > 0.4, "{place:#?}");
        assert_eq!(place.verdict, verdict, "{small}: {place:#?}");
    }
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
    let out = p.analyze_with(Analyzer::new(everything(), Numbers).with_scope(|f| f == 1));
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
fn data_behind_the_allocators_own_word_is_of_its_allocation() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    for (addr, caller) in [(HEAP - 4096, 77), (HEAP, 78)] {
        let alloc = Special::Alloc {
            addr,
            size: 65_536,
            caller,
            kind: AllocKind::Malloc,
        };
        p.special(0, alloc);
    }
    for at in (0..4096).step_by(8) {
        p.run(0, store, &[HEAP - 8 + at]);
    }
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).allocations[0].0, SiteId(1));
}

/// `calloc` clears what it then returns, which was part of a pool until then.
#[test]
fn what_an_allocating_call_wrote_itself_is_of_its_allocation() {
    let mut p = Program::default();
    let call = p.block(1, 0).compute(3).call().done();
    let clear = p.block(GENERIC, 0).rep_store(0, 1, 1).done();
    let back = p.block(GENERIC, 10).compute(1).ret().done();
    let alloc = |addr, size, caller| Special::Alloc {
        addr,
        size,
        caller,
        kind: AllocKind::Malloc,
    };
    p.special(0, alloc(HEAP, 1 << 20, 77));
    for i in 0..10 {
        p.run(0, call, &[]);
        p.run(0, clear, &[HEAP + 16 + i * 8192, 4096]);
        p.special(0, alloc(HEAP + 16 + i * 8192, 4096, 78));
        p.run(0, back, &[]);
    }
    let f = p.analyze().findings;
    let allocations = &of_site(&f, GENERIC * SITES).allocations;
    assert_eq!(allocations[0], (SiteId(1), 40_960));
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

/// `memcpy` of one large `rep movsb`, and what else of the C library the same call leads to.
#[test]
fn of_generic_code_what_writes_most_bytes_comes_first() {
    let mut p = Program::default();
    let call = p.block(1, 0).compute(3).call().done();
    let small = p.block(GENERIC, 0).store(0, 0, 8).compute(2).done();
    let copy = p.block(GENERIC + 1, 0).rep_store(0, 1, 1).ret().done();
    for i in 0..20 {
        p.run(0, call, &[]);
        for j in 0..4 {
            p.run(0, small, &[HEAP + j * 8]);
        }
        p.run(0, copy, &[HEAP + 0x10_0000 + i * 65536, 65536]);
    }
    let f = p
        .analyze_with(Analyzer::new(everything(), Numbers))
        .findings;
    let sites: Vec<u32> = f.findings[0].sites.iter().map(|s| s.site.0).collect();
    assert_eq!(sites[0] / SITES, GENERIC + 1, "{f:#?}");
}
