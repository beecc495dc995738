//! The applications of the paper's table 2 and section 7, in structure (`workloads/README.md`), at every level of
//! optimisation and with one, two and eight threads: the advice is the same.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod pays;

use std::fmt::Write;

use cases::{CASES, Case};
use common::{advice, advise_with, findings, level};
use serde_json::Value;

const LEVELS: [&str; 4] = ["O1", "O2", "O3", "native"];

/// Part of the program's writing from which on a place is in the table.
const MATTERS: f64 = 0.02;

/// How much of a run is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Whole,
    /// Of a long one, stretches: ten times as short as a user's, so that seconds of a run have dozens of them.
    Stretches,
}

impl Seen {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &[],
            Self::Stretches => &["--budget", "2x", "--stretch", "2M"],
        }
    }

    fn args(self, case: &Case) -> &'static [&'static str] {
        match self {
            Self::Whole => case.args,
            Self::Stretches => case.long,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Whole => "exact",
            Self::Stretches => "sampled",
        }
    }
}

/// What is wrong with the advice on `case`; and the advice, briefly.
fn run(
    case: &Case,
    level_name: &str,
    threads: Option<u32>,
    seen: Seen,
) -> Option<(Vec<String>, String)> {
    let program = level(level_name, case.program)?;
    let mut args: Vec<String> = seen.args(case).iter().map(|a| (*a).to_owned()).collect();
    args.extend(threads.map(|n| format!("--threads={n}")));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let report = advise_with(seen.options(), &program, &args);
    let mut wrong = Vec::new();
    if report["exactness"]["kind"] != seen.kind() {
        wrong.push(format!("looked at: {}", report["exactness"]));
    }
    let intensive = &report["write_intensive"];
    if *intensive != case.write_intensive {
        wrong.push(format!("write-intensive: {intensive}"));
    }
    if case.places.is_empty() {
        wrong.extend(advice(&report).iter().map(|f| said(f)));
    }
    for (function, right) in case.places {
        // Most writing comes first.
        match findings(&report).iter().find(|f| is_in(f, function)) {
            None => wrong.push(format!("{function}: nothing")),
            Some(f) if right.contains(&f["verdict"].as_str().unwrap()) => {}
            Some(f) => wrong.push(said(f)),
        }
    }
    let time = report["totals"]["write_time_share"].as_f64().unwrap();
    let mut brief = format!("writing {:.0}%", time * 100.0);
    for f in findings(&report)
        .iter()
        .filter(|f| f["write_share"].as_f64() >= Some(MATTERS))
    {
        write!(brief, ", {}", said(f)).unwrap();
    }
    Some((wrong, brief))
}

fn is_in(finding: &Value, function: &str) -> bool {
    let named = |f: &Value| f.as_str().is_some_and(|name| name.contains(function));
    let inlined = finding["inlined"].as_array().unwrap();
    named(&finding["function"]) || inlined.iter().any(|f| named(&f["function"]))
}

fn said(finding: &Value) -> String {
    let part = |key: &str| finding[key].as_str().unwrap_or("?").to_owned();
    format!("{}: {}", part("function"), part("verdict"))
}

/// Runs these cases; prints a table; fails if an answer is wrong.
fn check(chosen: impl Iterator<Item = (&'static Case, &'static str, Option<u32>)>, seen: Seen) {
    let mut failures = 0;
    for (case, level, threads) in chosen {
        let Some((wrong, brief)) = run(case, level, threads, seen) else {
            continue;
        };
        let right = if wrong.is_empty() { "ok" } else { "WRONG" };
        let threads = threads.map_or("-".to_owned(), |n| n.to_string());
        println!(
            "{right:5} {:9} {level:6} {threads:>2}  {}  {brief}",
            case.program,
            seen.args(case).join(" ")
        );
        for what in &wrong {
            println!("      not expected: {what}");
        }
        failures += usize::from(!wrong.is_empty());
    }
    assert_eq!(failures, 0, "see above");
}

fn threads_of(case: &'static Case) -> Vec<Option<u32>> {
    match case.threads {
        [] => vec![None],
        some => some.iter().map(|n| Some(*n)).collect(),
    }
}

/// Each program at one level and number of threads, other ones from program to program.
fn some() -> impl Iterator<Item = (&'static Case, &'static str, Option<u32>)> {
    CASES.iter().enumerate().map(|(i, case)| {
        let threads = threads_of(case);
        (case, LEVELS[i % LEVELS.len()], threads[i % threads.len()])
    })
}

/// Every program at every level with every number of threads.
fn all() -> impl Iterator<Item = (&'static Case, &'static str, Option<u32>)> {
    CASES.iter().flat_map(|case| {
        let levels = LEVELS.iter().copied();
        levels.flat_map(move |level| threads_of(case).into_iter().map(move |n| (case, level, n)))
    })
}

#[test]
fn each_application_gets_its_advice_at_some_level() {
    check(some(), Seen::Whole);
}

#[test]
#[ignore = "long: make soak"]
fn each_application_gets_its_advice_at_every_level() {
    check(all(), Seen::Whole);
}

#[test]
fn stretches_of_a_long_run_give_the_same_advice() {
    check(some().step_by(6), Seen::Stretches);
}

#[test]
#[ignore = "long: make soak"]
fn stretches_of_each_long_run_give_the_same_advice() {
    check(all(), Seen::Stretches);
}
