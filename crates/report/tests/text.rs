//! What people read.
#![allow(missing_docs)]

mod common;

use prestore_dirtbuster::{Dismissed, Findings, TimeEstimate, Verdict};
use prestore_report::{
    Exactness, ExactnessKind, Predicted, Report, Run, SiteKind, SiteStores, Sources,
    StoresByFunction, TextOptions, report_text, stores_text, to_json, to_sarif,
};
use prestore_trace::SiteId;

struct OneFile;

impl Sources for OneFile {
    fn read(&self, path: &str) -> Option<String> {
        path.ends_with("kv.c")
            .then(|| "void put(void *to) {\n\tcraft();\n\tmemcpy(to, value, size);\n}\n".to_owned())
    }
}

#[test]
fn findings_as_text() {
    insta::assert_snapshot!(report_text(&common::report(), TextOptions::default(), None));
}

#[test]
fn annotated_lines_carry_their_share_and_say_what_cannot_be_read() {
    let text = report_text(&common::report(), TextOptions::default(), Some(&OneFile));
    assert!(
        text.contains("100% >    3 |     memcpy(to, value, size);"),
        "{text}"
    );
    assert!(text.contains("            2 |     craft();"), "{text}");
    assert!(
        text.contains("Source: src/tensor.hpp cannot be read here"),
        "{text}"
    );
}

/// What a JIT compiler has made has no line that anybody could change, a library of the system none of the program's: that is not what to try.
#[test]
fn advice_about_what_is_not_the_programs_says_so_and_is_not_what_to_try() {
    let made = SiteId(77);
    let mut skip = common::finding(Verdict::Skip, &[(77, 1000)]);
    skip.write_share = 0.9;
    for (module, beside) in [
        ("[jit:17]", false),
        ("[jit:17]", true),
        ("/usr/lib/libjvm.so", false),
        ("/opt/worker", false),
    ] {
        // A runtime that was compiled into the program, where no call of the program's led.
        let runtime = "/usr/local/go/src/runtime/memclr_amd64.s";
        let frames: &[(&str, &str, u32)] = match module {
            "/opt/worker" => &[("runtime.memclrNoHeapPointers", runtime, 182)],
            _ => &[],
        };
        let mut findings = Findings {
            findings: vec![skip.clone()],
            write_intensive: true,
            ..Findings::default()
        };
        if beside {
            findings.findings.extend(common::findings().findings);
        }
        let mut symbols = common::symbols().at(made.0, module, frames);
        let report = Report::new(&findings, common::run(), 0.1, &mut symbols);
        let text = report_text(&report, TextOptions::default(), None);
        let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let what = match module {
            "/opt/worker" => "In: the toolchain's own code, compiled into worker",
            "/usr/lib/libjvm.so" => "In: libjvm.so: what the program can change",
            _ => "In: code that the program makes while it runs",
        };
        assert!(said.contains(what), "{text}");
        let nothing = said.contains("nothing in the program's source");
        assert_eq!(nothing, !beside, "{text}");
        assert_eq!(
            said.contains("written at src/tensor.hpp line 31"),
            beside,
            "{text}"
        );
    }
}

#[test]
fn colour_only_where_asked_for() {
    let plain = report_text(&common::report(), TextOptions::default(), None);
    let options = TextOptions {
        color: true,
        ..TextOptions::default()
    };
    let coloured = report_text(&common::report(), options, None);
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains('\u{1b}'));
}

#[test]
fn running_text_fits_the_width() {
    let mut findings = common::findings();
    findings.findings[0].reason = "word ".repeat(60);
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    let options = TextOptions {
        width: 60,
        ..TextOptions::default()
    };
    let text = report_text(&report, options, None);
    let reason = text.lines().filter(|l| l.contains("word word"));
    assert!(reason.clone().count() > 4, "{text}");
    assert!(
        reason.into_iter().all(|l| l.chars().count() <= 60),
        "{text}"
    );
}

#[test]
fn a_program_that_hardly_writes_is_said_to_and_gets_no_advice() {
    let findings = Findings {
        instructions: 1_000_000,
        stores: 42_000,
        store_fraction: 0.042,
        time: TimeEstimate {
            total: 1e6,
            writing: 9e4,
            ..TimeEstimate::default()
        },
        ..Findings::default()
    };
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    let text = report_text(&report, TextOptions::default(), None);
    assert!(
        text.contains(
            "Not write-intensive: writing takes about 9% of the time (threshold 10%; 4.2% of the"
        ),
        "{text}"
    );
    assert!(!text.contains("Pre-store choice"), "{text}");
}

/// A program that spends so much of its time writing.
fn barely_writing(share: f64) -> String {
    let mut findings = common::findings();
    findings.write_intensive = false;
    findings.time = TimeEstimate {
        total: 1e6,
        writing: share * 1e6,
        ..TimeEstimate::default()
    };
    for f in &mut findings.findings {
        let (verdict, reason) = (f.verdict, std::mem::take(&mut f.reason));
        f.verdict = Verdict::LeaveAlone;
        f.reason = "the program is not write-intensive".to_owned();
        f.dismissed = (verdict != Verdict::LeaveAlone).then_some(Dismissed { verdict, reason });
    }
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    report_text(&report, TextOptions::default(), None)
}

#[test]
fn what_would_be_advised_stands_there_once_and_not_the_programs_reason_at_each_place() {
    let text = barely_writing(0.03);
    assert!(text.contains("pre-stores would have no effect"), "{text}");
    assert!(
        text.contains("if the program wrote more, clean: "),
        "{text}"
    );
    let reasons = text.matches("leave alone: the program is not write-intensive");
    assert!(reasons.count() <= 1, "{text}");
}

#[test]
fn a_program_near_the_threshold_is_said_to_be() {
    let near = barely_writing(0.098);
    assert!(near.contains("too near the threshold to tell"), "{near}");
    assert!(near.contains("min_write_time=0.07"), "{near}");
    assert!(!barely_writing(0.03).contains("too near"));
}

/// Predicted on a machine.
fn predicted(machine: &str, speedup: f64) -> Predicted {
    Predicted {
        machine: machine.to_owned(),
        op: "clean".to_owned(),
        way: "call".to_owned(),
        speedup,
        least: speedup,
        most: speedup,
        best: speedup > 1.0,
    }
}

#[test]
fn what_gains_on_none_of_the_machines_asked_about_is_to_be_left_alone_there() {
    let mut report = common::report();
    let at = (report.findings.iter()).position(|f| f.verdict == Verdict::Clean);
    let text = |report: &Report| report_text(report, TextOptions::default(), None);
    let title = |report: &Report, what: &str| {
        let f = &report.findings[at.unwrap()];
        let line = format!("{}. {}: {what}\n", f.number, f.name());
        assert!(text(report).contains(&line), "{line}{}", text(report));
    };
    title(&report, "clean");
    report.findings[at.unwrap()].predicted = vec![predicted("host", 0.6), predicted("far", 0.9)];
    title(&report, "leave alone on host and far");
    assert!(text(&report).contains("Pre-store choice: leave alone on host and far"));
    assert!(
        text(&report).contains("larger units: clean\n"),
        "{}",
        text(&report)
    );
    let sarif = to_json(&to_sarif(&report)).unwrap();
    assert!(sarif.contains("leave alone on host and far"), "{sarif}");
    report.findings[at.unwrap()].predicted[1] = predicted("far", 1.4);
    title(&report, "clean");
}

#[test]
fn losses_and_partial_runs_are_said_aloud() {
    let run = Run {
        dropped_events: 17,
        partial: Some("the program was killed by SIGKILL".into()),
        exactness: Exactness {
            kind: ExactnessKind::Windowed,
            detail: "1 M of every 10 M instructions".into(),
        },
        ..common::run()
    };
    let report = Report::new(&common::findings(), run, 0.1, &mut common::symbols());
    let text = report_text(&report, TextOptions::default(), None);
    assert!(text.contains("warning: 17 events were dropped"), "{text}");
    assert!(
        text.contains("warning: partial: the program was killed"),
        "{text}"
    );
    assert!(
        text.contains("inside the windows (1 M of every 10 M"),
        "{text}"
    );
    assert!(!text.contains("0 events dropped"), "{text}");
}

#[test]
fn places_left_alone_are_brief_unless_asked_for() {
    let full = TextOptions {
        left_alone_in_full: true,
        ..TextOptions::default()
    };
    let report = common::report();
    assert!(!report_text(&report, TextOptions::default(), None).contains("Location: src/rank.c"));
    assert!(report_text(&report, full, None).contains("Location: src/rank.c line 50"));
}

#[test]
fn stores_by_function_as_text() {
    let count = |site, chain: &[u32], stores| SiteStores {
        site: SiteId(site),
        call_chain: chain.iter().map(|&s| SiteId(s)).collect(),
        chain_kind: SiteKind::Instruction,
        stores,
    };
    let counts = vec![
        count(20, &[], 30_000),
        count(10, &[11, 12, 13], 60_000),
        count(10, &[12, 13], 20_000),
        count(30, &[], 20),
    ];
    let run = Run {
        scope: "count".into(),
        ..common::run()
    };
    let stores = StoresByFunction::new(counts, Some(900_000), run, &mut common::symbols());
    insta::assert_snapshot!(stores_text(&stores, TextOptions::default()));
}

#[test]
fn names_of_templates_fit_a_narrow_page_and_are_whole_in_json() {
    let long = format!(
        "Grid<{}>::relax(double const*, int)",
        "std::pair<int, double>, ".repeat(9)
    );
    let frames = [(long.as_str(), "/home/ada/kv/src/grid.hpp", 31)];
    let mut symbols = common::FakeSymbols::default();
    for site in 1..=5 {
        symbols = symbols.at(site, "/home/ada/kv/grid", &frames);
    }
    let mut findings = common::findings();
    let mut generic = common::finding(Verdict::Skip, &[(1, 300)]);
    generic.generic_writer = true;
    generic.call_chain = vec![SiteId(2), SiteId(3)];
    generic.allocations = vec![(SiteId(4), 2000)];
    generic.reread_near.mean = Some(123_456.0);
    generic.reread_near.share = 0.123;
    generic.rewrite_near = generic.reread_near;
    let mut other = common::finding(Verdict::Clean, &[(1, 200)]);
    other.call_chain = vec![SiteId(5)];
    let mut alone = other.clone();
    alone.verdict = Verdict::LeaveAlone;
    findings.findings = vec![generic, other, alone];
    let run = Run {
        partial: Some("no space left while writing it; free space, or record less ".repeat(3)),
        ..common::run()
    };
    let report = Report::new(&findings, run, 0.1, &mut symbols);
    let options = TextOptions {
        width: 80,
        ..TextOptions::default()
    };
    let text = report_text(&report, options, None);
    let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}\n{text}");
    assert!(text.contains("Grid<...>::relax(...)"), "{text}");
    assert!(to_json(&report).unwrap().contains(&long));
}

#[test]
fn advice_that_is_not_for_this_run_is_headed_so_and_is_not_what_to_try_next() {
    let mut findings = common::findings();
    findings.pitfalls.clear();
    for finding in &mut findings.findings {
        finding.written_once = finding.verdict != Verdict::LeaveAlone;
    }
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    let text = report_text(&report, TextOptions::default(), None);
    assert!(text.contains(": leave alone in this run\n"), "{text}");
    let next = text.split_once("What to try next").unwrap().1;
    assert!(next.contains("nothing in this run"), "{text}");
    let sarif = to_json(&to_sarif(&report)).unwrap();
    assert!(!sarif.contains("\"level\": \"warning\""), "{sarif}");
    assert!(
        sarif.contains("leave alone in this run, which writes it once"),
        "{sarif}"
    );
}

#[test]
fn places_with_one_reason_stand_in_one_line() {
    let mut findings = common::findings();
    for finding in &mut findings.findings {
        finding.verdict = Verdict::LeaveAlone;
        finding.dismissed = None;
        finding.reason = "nobody can put a pre-store there".into();
    }
    let report = Report::new(&findings, common::run(), 0.1, &mut common::symbols());
    let text = report_text(&report, TextOptions::default(), None);
    assert_eq!(text.matches("nobody can put").count(), 1, "{text}");
    assert!(text.contains("   1, 2"), "{text}");
    assert!(text.contains("of the writing together"), "{text}");
}
