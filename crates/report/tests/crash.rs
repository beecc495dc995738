//! What a power cut may lose: names, places told once, SARIF as the standard says.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::HashSet;

use common::FakeSymbols;
use common::schema::{assert_valid, sarif_schema};
use prestore_crash::{Checked, Domain, Executed, Finding, FindingKind, First, ImageFound, Spot};
use prestore_report::{CrashAbout, CrashReport, TextOptions, crash_text, crash_to_sarif};
use prestore_trace::{ProcessId, SiteId, ThreadId};

/// Sites: 1 and 2 the same line of `put`, 3 a library's flush, 4 the line that calls it.
fn symbols() -> FakeSymbols {
    let put = [("put", "/home/ada/kv/src/put.c", 10)];
    FakeSymbols::default()
        .at(1, "/home/ada/kv/kv", &put)
        .at(2, "/home/ada/kv/kv", &put)
        .at(3, "/usr/lib/libpmem.so.1", &[])
        .at(
            4,
            "/home/ada/kv/kv",
            &[("save", "/home/ada/kv/src/save.c", 20)],
        )
}

fn finding(kind: FindingKind, site: u32, calls: &[u32], instr: u64) -> Finding {
    let spot = |site| Spot {
        site: SiteId(site),
        calls: Vec::new(),
    };
    Finding {
        kind,
        image: Some(0),
        at: Spot {
            calls: calls.iter().map(|&c| SiteId(c)).collect(),
            ..spot(site)
        },
        count: 3,
        first: First {
            process: ProcessId(0),
            thread: ThreadId(0),
            instr,
            address: 0x7000,
            offset: 0,
        },
        flush: Some(spot(1)),
        fence: None,
        pointer: None,
        transaction: None,
    }
}

fn report() -> CrashReport {
    let checked = Checked {
        images: vec![ImageFound {
            name: "pool".into(),
            files: vec!["/mnt/pool".into()],
            bytes: 4096,
        }],
        findings: vec![
            finding(FindingKind::MissingFlush, 1, &[], 900),
            finding(FindingKind::MissingFlush, 2, &[], 100),
            finding(FindingKind::RedundantFlush, 3, &[4], 500),
            Finding {
                flush: None,
                transaction: Some(Spot {
                    site: SiteId(4),
                    calls: Vec::new(),
                }),
                ..finding(FindingKind::Ordering, 1, &[], 200)
            },
        ],
        synced: Vec::new(),
        flushers: Vec::new(),
        flushed: Vec::new(),
        of_another: Vec::new(),
        stored: vec![Executed {
            at: Spot {
                site: SiteId(2),
                calls: Vec::new(),
            },
            image: 0,
            count: 8,
        }],
        notes: vec!["thread 3 was read in part".into()],
    };
    let generic = HashSet::from([SiteId(3)]);
    CrashReport::new(
        &checked,
        CrashAbout {
            domain: Domain::Adr,
            values: true,
        },
        common::run(),
        &generic,
        &mut symbols(),
    )
}

#[test]
fn a_line_is_one_finding_and_a_library_s_is_its_caller_s() {
    let report = report();
    let found: Vec<_> = (report.findings.iter())
        .map(|f| (f.kind, f.place.function.as_str(), f.count, f.first.instr))
        .collect();
    assert_eq!(
        found,
        [
            (FindingKind::MissingFlush, "put", 6, 100),
            (FindingKind::Ordering, "put", 3, 200),
            (FindingKind::RedundantFlush, "save", 3, 500),
        ]
    );
    let of: Vec<_> = report.findings.iter().map(|f| f.of).collect();
    assert_eq!(of, [Some(8), Some(8), None]);
    let text = crash_text(&report, TextOptions::default());
    for part in [
        "6 of 8 stores",
        "1. missing flush: put",
        "2. not added to the transaction: put",
        "transaction begun at save (save.c:20)",
        "3. redundant flush: save",
        "pool (/mnt/pool), 4096 B",
        "3 findings.",
        "thread 3 was read in part",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
}

#[test]
fn sarif_is_as_the_standard_says() {
    let log = crash_to_sarif(&report());
    let value = serde_json::to_value(&log).unwrap();
    assert_valid(&sarif_schema(), &value);
    let results = value["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<_> = results
        .iter()
        .map(|r| r["ruleId"].as_str().unwrap())
        .collect();
    assert_eq!(
        rules,
        [
            "prestore/missing-flush",
            "prestore/ordering",
            "prestore/redundant-flush"
        ]
    );
    let named = &value["runs"][0]["tool"]["driver"]["rules"];
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(named[index]["id"], result["ruleId"]);
    }
}
