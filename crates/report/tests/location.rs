//! Which line stands for a finding.
#![allow(missing_docs)]

mod common;

use common::{FakeSymbols, finding};
use prestore_dirtbuster::{Finding, Findings, Pitfall, PitfallKind, Verdict};
use prestore_report::{NamedFinding, NamedPitfall, Report};
use prestore_trace::SiteId;

const APP: &str = "/opt/app";

fn name(finding: Finding, mut symbols: FakeSymbols) -> NamedFinding {
    let findings = Findings {
        findings: vec![finding],
        ..Findings::default()
    };
    let mut report = Report::new(&findings, common::run(), 0.1, &mut symbols);
    report.findings.remove(0)
}

fn named_pitfall(calls: &[u32], generic_writer: bool, mut symbols: FakeSymbols) -> NamedPitfall {
    let flush = Pitfall {
        kind: PitfallKind::FlushOfRewrittenLine,
        site: SiteId(1),
        call_chain: calls.iter().map(|&s| SiteId(s)).collect(),
        entered: false,
        generic_writer,
        executed: 10,
        affected: 9,
        cost_share: 0.1,
        reason: String::new(),
    };
    let findings = Findings {
        pitfalls: vec![flush],
        ..Findings::default()
    };
    let mut report = Report::new(&findings, common::run(), 0.1, &mut symbols);
    report.pitfalls.remove(0)
}

fn copied(chain: &[u32]) -> Finding {
    let mut f = finding(Verdict::Skip, &[(1, 10)]);
    f.generic_writer = true;
    f.call_chain = chain.iter().map(|&s| SiteId(s)).collect();
    f
}

#[test]
fn it_is_the_line_with_most_stores_not_the_busiest_instruction() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(2, APP, &[("f", "/src/f.c", 20)])
        .at(3, APP, &[("f", "/src/f.c", 20)]);
    let f = name(
        finding(Verdict::Clean, &[(1, 50), (2, 40), (3, 30)]),
        symbols,
    );
    assert_eq!(f.place.line, Some(20));
    assert_eq!(f.lines[0].stores, 70);
    assert_eq!(f.lines[1].line, 10);
}

#[test]
fn a_generic_writer_is_placed_at_its_call() {
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libc.so.6", &[("__memset_avx2_unaligned", "", 0)])
        .at(2, APP, &[("clear", "/src/f.c", 7)])
        .at(3, APP, &[("main", "/src/f.c", 9)]);
    let f = name(copied(&[2, 3]), symbols);
    assert_eq!(
        (f.place.function.as_str(), f.place.line),
        ("clear", Some(7))
    );
    assert_eq!(f.writer.as_deref(), Some("memset"));
    assert_eq!(f.call_chain_index, Some(0));
    assert_eq!(f.callers().len(), 1);
}

#[test]
fn a_generic_writer_under_a_library_is_placed_at_the_user_call() {
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libc.so.6", &[("__memmove_avx_unaligned", "", 0)])
        .at(2, "/lib/libstdc++.so.6", &[("std::string::append", "", 0)])
        .at(3, APP, &[("log_line", "/src/log.cc", 31)]);
    let f = name(copied(&[2, 3]), symbols);
    assert_eq!(f.place.function, "log_line");
    assert_eq!(f.call_chain_index, Some(1));
    assert!(f.callers().is_empty());
}

/// What a library copies for itself (pages of a database), and what it copies for who calls it, as `…_memcpy` and `…_persist` say.
#[test]
fn what_a_library_writes_on_its_own_account_is_told_apart() {
    const LIBRARY: &str = "/usr/lib/libdb.so.5";
    for (entry, own) in [("db_put", true), ("pool_memcpy_persist", false)] {
        let symbols = FakeSymbols::default()
            .at(1, "/lib/libc.so.6", &[("__memmove_avx_unaligned", "", 0)])
            .at(2, LIBRARY, &[])
            .at(3, LIBRARY, &[(entry, "", 0)])
            .at(4, APP, &[("store", "/src/store.c", 31)]);
        let f = name(copied(&[2, 3, 4]), symbols);
        assert_eq!(f.place.line, Some(31));
        assert_eq!(f.library.as_deref(), own.then_some(LIBRARY), "{entry}");
    }
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libc.so.6", &[("memcpy", "", 0)])
        .at(2, "/lib/libstdc++.so.6", &[("std::string::append", "", 0)])
        .at(3, APP, &[("log_line", "/src/log.cc", 31)]);
    assert_eq!(name(copied(&[2, 3]), symbols).library, None);
    // A copy that a library makes where no line of the program's is known to have led to it: a runtime's.
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libc.so.6", &[("memcpy", "", 0)])
        .at(2, LIBRARY, &[("promote", "", 0)]);
    let f = name(copied(&[2]), symbols);
    assert_eq!(f.place.function, "promote");
    assert_eq!(f.library.as_deref(), Some(LIBRARY));
    // Code of the program's own library, built without lines, and of one that the system came with.
    for (module, own) in [("/opt/libkv.so", true), (LIBRARY, false)] {
        let symbols = FakeSymbols::default().at(1, module, &[]);
        let f = name(finding(Verdict::Skip, &[(1, 10)]), symbols);
        assert_eq!(f.library.is_none(), own, "{module}");
    }
}

/// Flushes stand in small functions, which are inlined where the program flushes.
#[test]
fn a_flush_in_an_inlined_helper_is_placed_where_the_helper_is_called() {
    let symbols = FakeSymbols::default().at(
        1,
        APP,
        &[
            ("clflush", "/src/tree.cpp", 31),
            ("insert", "/src/tree.cpp", 120),
        ],
    );
    let p = named_pitfall(&[], false, symbols);
    assert_eq!(
        (p.place.function.as_str(), p.place.line),
        ("insert", Some(120))
    );
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libpmem.so.1", &[("pmem_flush", "", 0)])
        .at(2, "/lib/libpmemobj.so.1", &[("pmemobj_create", "", 0)])
        .at(3, APP, &[("main", "/src/f.c", 9)]);
    let p = named_pitfall(&[2, 3], true, symbols);
    assert_eq!(p.place.line, Some(9));
    assert_eq!(p.library.as_deref(), Some("/lib/libpmemobj.so.1"));
}

#[test]
fn a_generic_writer_without_named_callers_is_placed_at_the_innermost() {
    let symbols = FakeSymbols::default()
        .at(1, "/lib/libc.so.6", &[("memcpy", "", 0)])
        .at(2, "/opt/stripped", &[]);
    let f = name(copied(&[2]), symbols);
    assert_eq!(f.place.function, "stripped+0x1002");
    assert_eq!(f.place.line, None);
}

#[test]
fn a_generic_writer_without_a_chain_is_placed_at_itself() {
    let symbols = FakeSymbols::default().at(1, "/lib/libc.so.6", &[("memcpy", "", 0)]);
    let f = name(copied(&[]), symbols);
    assert_eq!(f.place.function, "memcpy");
    assert_eq!(f.call_chain_index, None);
}

#[test]
fn an_allocation_is_named_by_its_call_instruction() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(5, APP, &[("main", "/src/f.c", 100)])
        .returning(5, APP, &[("main", "/src/f.c", 99)]);
    let mut f = finding(Verdict::Clean, &[(1, 10)]);
    f.allocations = vec![(SiteId(5), 60)];
    let f = name(f, symbols);
    assert_eq!(f.allocations[0].place.line, Some(100));
    assert_eq!(f.allocations[0].share, 0.75);
}

#[test]
fn a_site_nobody_knows_is_named_unknown() {
    let f = name(finding(Verdict::Clean, &[(9, 10)]), FakeSymbols::default());
    assert_eq!(f.place.function, "[unknown]+0x0");
    assert!(f.lines.is_empty());
}

/// A program without debug information, and a C library with it: what called `main` is no place to change.
#[test]
fn a_generic_writer_is_not_placed_at_what_starts_programs() {
    let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
    let symbols = FakeSymbols::default()
        .at(1, libc, &[("__memset_avx2_unaligned", "", 0)])
        .at(2, APP, &[])
        .at(
            3,
            libc,
            &[("__libc_start_main_impl", "./csu/../csu/libc-start.c", 360)],
        );
    let f = name(copied(&[2, 3]), symbols);
    assert!(f.place.function.starts_with("app+0x"), "{:?}", f.place);
    assert_eq!(f.call_chain_index, Some(0));
}

#[test]
fn shares_of_allocations_add_up_to_no_more_than_all() {
    let mut written = finding(Verdict::Clean, &[(1, 100)]);
    written.allocations = vec![(SiteId(2), 600), (SiteId(3), 400)];
    let f = name(written, FakeSymbols::default());
    let shares: Vec<f64> = f.allocations.iter().map(|a| a.share).collect();
    assert_eq!(f.store_bytes, 800);
    assert_eq!(shares, [0.6, 0.4]);
}
