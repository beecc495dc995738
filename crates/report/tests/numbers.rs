//! A finding has one number and one name, wherever it is spoken of.
#![allow(missing_docs)]

mod common;

use common::{FakeSymbols, finding};
use prestore_dirtbuster::{Finding, Findings, Verdict};
use prestore_report::{
    Accuracy, Report, TextOptions, WhatIfReport, report_text, to_sarif, whatif_text,
};
use prestore_trace::SiteId;
use prestore_whatif::{Effect, Figures, MachinePrediction, SCHEMA_VERSION, Speedup, WhatIf};
use serde_json::Value;

const APP: &str = "/opt/app";

fn report(findings: Vec<Finding>, mut symbols: FakeSymbols) -> Report {
    let findings = Findings {
        write_intensive: true,
        findings,
        ..Findings::default()
    };
    Report::new(&findings, common::run(), 0.1, &mut symbols)
}

fn apart(findings: Vec<Finding>, symbols: FakeSymbols) -> Vec<Option<String>> {
    let report = report(findings, symbols);
    report.findings.into_iter().map(|f| f.apart).collect()
}

fn said(words: &str) -> Option<String> {
    Some(words.to_owned())
}

#[test]
fn a_finding_alone_in_its_function_needs_no_more() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(2, APP, &[("g", "/src/f.c", 20)]);
    let findings = vec![
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(2, 9)]),
    ];
    assert_eq!(apart(findings, symbols), [None, None]);
}

#[test]
fn two_findings_of_a_function_are_told_apart_by_their_lines() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(2, APP, &[("f", "/src/f.c", 20)]);
    let findings = vec![
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(2, 9)]),
    ];
    let expected = [said("at f.c:10"), said("at f.c:20")];
    assert_eq!(apart(findings, symbols), expected);
}

#[test]
fn one_line_that_writes_different_data_names_the_data() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(2, APP, &[("f", "/src/f.c", 10)])
        .at(5, APP, &[("grid", "/src/main.c", 100)])
        .at(6, APP, &[("halo", "/src/main.c", 120)]);
    let mut findings = vec![
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Skip, &[(1, 9)]),
        finding(Verdict::LeaveAlone, &[(2, 9)]),
    ];
    findings[0].allocations = vec![(SiteId(5), 72)];
    findings[1].allocations = vec![(SiteId(6), 72)];
    let expected = [
        said("data of grid (main.c:100)"),
        said("data of halo (main.c:120)"),
        said("data of no known allocation"),
    ];
    assert_eq!(apart(findings, symbols), expected);
}

#[test]
fn what_has_line_and_data_in_common_names_caller_or_instruction() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("f", "/src/f.c", 10)])
        .at(2, APP, &[("f", "/src/f.c", 10)])
        .at(3, APP, &[("f", "/src/f.c", 30)])
        .at(7, APP, &[("left", "/src/main.c", 7)])
        .at(8, APP, &[("right", "/src/main.c", 8)]);
    let mut findings = vec![
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(2, 9)]),
        finding(Verdict::Clean, &[(3, 9)]),
    ];
    findings[0].call_chain = vec![SiteId(7)];
    findings[1].call_chain = vec![SiteId(8)];
    findings[2].call_chain = vec![SiteId(8)];
    let expected = [
        said("at f.c:10, called from left (main.c:7)"),
        said("at f.c:10, called from right (main.c:8), store at app+0x1001"),
        said("at f.c:10, called from right (main.c:8), store at app+0x1002"),
        said("at f.c:30"),
    ];
    assert_eq!(apart(findings, symbols), expected);
}

fn effect(finding: usize, cycles: u64) -> Effect {
    let figures = figures(cycles);
    Effect {
        finding,
        op: "clean",
        way: "call",
        speedup: Speedup::of(&[1000.0 / cycles as f64]),
        best: cycles < 1000,
        idle: None,
        figures,
    }
}

fn figures(cycles: u64) -> Figures {
    Figures {
        cycles,
        seconds: cycles as f64 * 1e-9,
        ..Figures::default()
    }
}

fn predictions(findings: Vec<Effect>, followed: Vec<usize>, speedup: f64) -> WhatIf {
    WhatIf {
        sampled_units: None,
        schema_version: SCHEMA_VERSION,
        simulations: 3,
        machines: vec![MachinePrediction {
            machine: "m".into(),
            baseline: figures(1000),
            followed,
            advised: figures((1000.0 / speedup) as u64),
            speedup: Speedup::of(&[speedup]),
            findings,
            notes: Vec::new(),
        }],
    }
}

#[test]
fn the_number_stays_when_the_order_changes() {
    let mut report = common::report();
    // The third gains most.
    let findings = vec![effect(0, 1100), effect(1, 900), effect(2, 500)];
    let predictions = predictions(findings, vec![1, 2], 2.2);
    let whatif = WhatIfReport::new(&report, &predictions, |_| Vec::new());
    report.predict(&predictions);

    let numbers: Vec<usize> = report.findings.iter().map(|f| f.number).collect();
    assert_eq!(numbers, [3, 2, 1, 4]);
    let text = report_text(&report, TextOptions::default(), None);
    for title in [
        "3. libfast.so+0x101e: demote",
        "2. put: skip",
        "1. evalPacket: leave alone on m",
        "4. rank (",
    ] {
        assert!(text.contains(title), "'{title}' is missing: {text}");
    }
    let sarif = serde_json::to_value(to_sarif(&report)).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
    // Pitfalls are no findings.
    let numbers: Vec<&Value> = results
        .filter_map(|r| r["properties"].get("finding"))
        .collect();
    assert_eq!(numbers, [2, 1]);

    let best = &whatif.machines[0].findings[0];
    assert_eq!(
        (best.finding, best.function.as_str()),
        (3, "libfast.so+0x101e")
    );
    let text = whatif_text(&whatif, TextOptions::default(), None);
    assert!(text.contains("finding 3: libfast.so+0x101e"), "{text}");
}

fn headline(findings: Vec<Effect>, followed: Vec<usize>, speedup: f64) -> String {
    let predictions = predictions(findings, followed, speedup);
    let whatif = WhatIfReport::new(&common::report(), &predictions, |_| Vec::new());
    let text = whatif_text(&whatif, TextOptions::default(), None);
    let line = text.lines().find(|l| l.starts_with("On m"));
    line.unwrap_or_default().to_owned()
}

#[test]
fn the_headline_names_what_it_contains() {
    let all = || vec![effect(0, 1100), effect(1, 900), effect(2, 500)];
    assert_eq!(
        headline(all(), vec![1, 2], 2.2),
        "On m, with finding 2 (clean) and finding 3 (clean) together: 2.20x faster"
    );
    assert_eq!(
        headline(all(), vec![2], 2.0),
        "On m, with finding 3 (clean): 2.00x faster"
    );
    assert_eq!(
        headline(vec![effect(0, 1100)], Vec::new(), 1.0),
        "On m: nothing gains, leave everything as it is"
    );
    assert_eq!(
        headline(Vec::new(), Vec::new(), 1.0),
        "On m: there is no advice to follow in this recording"
    );
}

#[test]
fn ways_stand_together_and_what_does_nothing_says_why() {
    let way = |way, cycles| Effect {
        op: "skip",
        way,
        best: false,
        ..effect(1, cycles)
    };
    let mut idle = effect(2, 1000);
    idle.op = "demote";
    idle.idle = Some("no instruction demotes there");
    let best = Effect {
        best: true,
        ..way("buffer", 500)
    };
    let predictions = predictions(vec![way("writer", 1200), idle, best], vec![2], 2.0);
    let accuracy = Accuracy {
        op: "skip".into(),
        cases: 8,
        median_error: 0.09,
        worst_error: 0.31,
    };
    let whatif = WhatIfReport::new(&common::report(), &predictions, |_| vec![accuracy.clone()]);
    let text = whatif_text(&whatif, TextOptions::default(), None);
    let expected = [
        "finding 2: put (",
        "best here: skip, built in a buffer, then prestore_copy_skip: 2.00x faster",
        "skip, by prestore_writer: 0.83x: a loss",
        "finding 3: libfast.so+0x101e",
        "demote: does nothing: no instruction demotes there",
        "off by 9%",
    ];
    let mut rest = text.as_str();
    for part in expected {
        let at = rest.find(part);
        assert!(at.is_some(), "'{part}' is missing or not in order: {text}");
        rest = &rest[at.unwrap_or(0)..];
    }
}

#[test]
fn a_caller_of_the_program_s_is_named_rather_than_the_library_between() {
    let symbols = FakeSymbols::default()
        .at(1, APP, &[("zero", "/src/f.h", 10)])
        .at(2, "/usr/lib/libgomp.so.1", &[("GOMP_parallel", "", 0)])
        .at(7, APP, &[("left", "/src/main.c", 7)])
        .at(8, APP, &[("right", "/src/main.c", 8)]);
    let mut findings = vec![
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(1, 9)]),
        finding(Verdict::Clean, &[(1, 9)]),
    ];
    findings[0].call_chain = vec![SiteId(2), SiteId(7)];
    findings[1].call_chain = vec![SiteId(2), SiteId(8)];
    findings[2].call_chain = vec![SiteId(2)];
    let expected = [
        said("called from left (main.c:7)"),
        said("called from right (main.c:8)"),
        said("called from GOMP_parallel"),
    ];
    assert_eq!(apart(findings, symbols), expected);
}
