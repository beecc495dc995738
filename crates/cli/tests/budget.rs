//! `prestore advise --budget`: long runs are looked at in stretches, and judged as if they were looked at whole.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{assert_valid, compile, root, run, source_line, text};
use serde_json::Value;

const PHASES: &str = "crates/cli/tests/programs/phases.c";

const ADVISE: [&str; 6] = [
    "advise",
    "-q",
    "--format",
    "json",
    "--threshold",
    "min_write_time=0",
];

fn advise(program: &str, options: &[&str]) -> Value {
    let program = ["--", program, "3000"];
    let report = run(ADVISE.iter().chain(options).chain(&program))
        .exits(0)
        .json();
    assert_valid("advise.schema.json", &report);
    report
}

/// Verdict, share of the writing and stretches of the place at this line.
fn place(report: &Value, mark: &str) -> Option<(String, f64, u64)> {
    let line = u64::from(source_line(PHASES, mark));
    let all = report["findings"].as_array().unwrap().iter();
    let mut here = all.filter(|f| f["line"].as_u64() == Some(line));
    here.next().map(|f| {
        let verdict = f["verdict"].as_str().unwrap().to_owned();
        (
            verdict,
            f["write_share"].as_f64().unwrap(),
            f["stretches"].as_u64().unwrap(),
        )
    })
}

/// Functions that had the place at this line executed, innermost first.
fn callers(report: &Value, mark: &str) -> Vec<String> {
    let line = u64::from(source_line(PHASES, mark));
    let mut all = report["findings"].as_array().unwrap().iter();
    let here = all.find(|f| f["line"].as_u64() == Some(line)).unwrap();
    let chain = here["call_chain"].as_array().unwrap().iter();
    chain
        .map(|call| call["function"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn is_called_by_main(report: &Value, mark: &str) {
    let callers = callers(report, mark);
    let is_one = |function: &String| function == "main" || function.starts_with('_');
    assert!(callers.iter().all(is_one), "{mark}: {callers:?}");
    assert_eq!(callers[0], "main", "{mark}: {callers:?}");
}

#[test]
fn stretches_are_judged_like_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("phases");
    compile(
        &root().canonicalize().unwrap().join(PHASES),
        &program,
        &["-O1"],
    );
    let program = text(&program);
    let whole = advise(program, &["--budget", "all"]);
    assert_eq!(whole["exactness"]["kind"], "exact");
    // Some 40 million instructions: one of 16 stretches in the end, with either budget.
    let parts = advise(program, &["--budget", "8x", "--stretch", "100K"]);
    assert_eq!(parts["exactness"]["kind"], "sampled", "{parts:#}");
    let auto = advise(program, &["--budget", "auto", "--stretch", "100K"]);
    assert_eq!(auto["exactness"]["kind"], "sampled", "{auto:#}");
    let marks = ["/* in order */", "/* over and over */"];
    for (mark, parts) in marks.iter().flat_map(|m| [(*m, &parts), (*m, &auto)]) {
        let (exact, part) = (place(&whole, mark).unwrap(), place(parts, mark).unwrap());
        assert_eq!(exact.0, part.0, "{mark}: {parts:#}");
        assert!((exact.1 - part.1).abs() < 0.1, "{mark}: {exact:?} {part:?}");
        assert!(exact.2 == 0 && part.2 >= 10, "{mark}: {exact:?} {part:?}");
    }
    // What is counted speaks of the whole run.
    let stores = |report: &Value| report["totals"]["stores"].as_f64().unwrap();
    for report in [&parts, &auto] {
        let ratio = stores(report) / stores(&whole);
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }
    // A call that had returned before a stretch began is no caller in it.
    for (report, mark) in [&parts, &auto]
        .into_iter()
        .flat_map(|r| marks.map(|m| (r, m)))
    {
        is_called_by_main(report, mark);
    }
    // What only the beginning did weighs as little as it does.
    let begun = |report: &Value| place(report, "/* begin */").map_or(0.0, |p| p.1);
    assert!(begun(&whole) < 0.05 && begun(&parts) < 0.1, "{parts:#}");
    // A run that fits into the first stretches is looked at whole, whether a budget was asked for or not.
    for options in [&["--budget", "2x"][..], &[]] {
        let short = advise(program, options);
        assert_eq!(short["exactness"]["kind"], "exact");
        let mark = "/* over and over */";
        let (short, whole) = (place(&short, mark).unwrap(), place(&whole, mark).unwrap());
        assert_eq!((&short.0, short.2), (&whole.0, whole.2));
        // Before it begins, the program itself does not execute the same instructions in each run.
        assert!((short.1 - whole.1).abs() < 1e-4, "{short:?} {whole:?}");
    }
}

/// Windows end in calls of the loader, and of the program while it reads.
#[test]
fn windows_begin_in_no_call_that_was_there_before() {
    let folder = tempfile::tempdir().unwrap();
    let (program, dir) = (folder.path().join("phases"), folder.path().join("trace"));
    let source = root().canonicalize().unwrap().join(PHASES);
    compile(&source, &program, &["-O1"]);
    let windows = ["--period", "1000000", "--take", "100000"];
    let record = ["record", "-q", "-o", text(&dir)];
    let program = ["--", text(&program), "3000"];
    run(record.iter().chain(&windows).chain(&program)).exits(0);
    let report = run(ADVISE.iter().chain(&[text(&dir)])).exits(0).json();
    is_called_by_main(&report, "/* in order */");
}

#[test]
fn a_budget_that_cannot_be_held_is_refused() {
    let wrong = |options: &[&str], why: &str| {
        let command = ["advise"].iter().chain(options).chain(&["--", "true"]);
        run(command).exits(2).says(&[why]);
    };
    wrong(&["--budget", "1.2x"], "2x or more");
    wrong(&["--budget", "little"], "as in 3x");
    wrong(
        &["--budget", "2x", "--scope", "functions"],
        "--budget looks at parts",
    );
    wrong(&["--budget", "2x", "--stretch", "0"], "a stretch of 0");
    wrong(&["--stretch", "1M"], "--budget");
    wrong(&["--budget", "2x", "--take", "5M"], "cannot be used with");
}
