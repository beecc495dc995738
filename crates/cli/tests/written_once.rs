//! Buffers that a run fills once, and non-temporal stores: what is said of them agrees with itself.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::HashSet;
use std::path::Path;

use common::{advise, c_program, finding, prestore, run, text};
use serde_json::Value;

/// Fills a buffer once, and then writes it over and over.
fn fills_once(folder: &Path) -> std::path::PathBuf {
    let source = r#"
        #include <stdlib.h>
        #include <string.h>
        enum { N = 4 << 20 };
        __attribute__((noinline)) static double *make(void)
        {
            double *made = aligned_alloc(4096, N * sizeof *made);
            memset(made, 1, N * sizeof *made);
            return made;
        }
        __attribute__((noinline)) static void work(double *data, int round)
        {
            for (int i = 0; i < N; i++)
                data[i] = i * 2.0 + round;
        }
        int main(void)
        {
            double *data = make();
            for (int round = 0; round < 3; round++)
                work(data, round);
            return data[5] < 0;
        }"#;
    c_program(folder, "fills_once", source, &["-O2"])
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_run_writes_once_is_no_advice_for_that_run() {
    let folder = tempfile::tempdir().unwrap();
    let program = fills_once(folder.path());
    let report = advise(&program, &[]);
    let made = finding(&report, "make");
    assert_eq!(
        (&made["verdict"], &made["written_once"]),
        (&"skip".into(), &Value::Bool(true))
    );
    let reason = made["reason"].as_str().unwrap();
    assert!(
        reason.contains("In this run each was written here once"),
        "{reason}"
    );
    // Its stores are `memset`'s: nothing there can be changed.
    assert!(!reason.contains("prestore try"), "{reason}");
    assert_eq!(finding(&report, "work")["written_once"], false);

    let said = words(&run(["advise", "-q", "--", text(&program)]).exits(0).stdout);
    assert!(said.contains("make: leave alone in this run"), "{said}");
    assert!(said.contains("work: skip"), "{said}");
    let next = said.split_once("What to try next").unwrap().1;
    assert!(next.contains("write with non-temporal stores"), "{said}");
    let sarif = run(["advise", "-q", "--format", "sarif", "--", text(&program)]);
    let sarif = sarif.exits(0).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let of_made = results.iter().find(|r| {
        let text = r["message"]["text"].as_str().unwrap();
        text.contains("make does")
    });
    assert_eq!(of_made.unwrap()["level"], "note", "{sarif:#}");
}

/// Beside what may gain it is not simulated, unless it is asked for.
#[test]
fn what_a_run_writes_once_is_tried_only_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = fills_once(folder.path());
    let dir = folder.path().join("recording");
    run(["record", "-q", "-o", text(&dir), "--", text(&program)]).exits(0);
    let options = [
        "--machine",
        "machine-a",
        "--simulations",
        "1",
        "--limit",
        "1M",
    ];
    let whatif = |more: &[&str]| {
        let command = ["whatif", "-q", text(&dir), "--format", "json"];
        run(command.iter().chain(&options).chain(more))
            .exits(0)
            .json()
    };
    let functions = |json: &Value| {
        let findings = json["machines"][0]["findings"].as_array().unwrap();
        let names = findings.iter().map(|f| f["function"].as_str().unwrap());
        names.map(str::to_owned).collect::<HashSet<_>>()
    };
    let all = whatif(&[]);
    assert_eq!(functions(&all), ["work".to_owned()].into(), "{all:#}");
    let advised = run(["advise", "-q", "--format", "json", text(&dir)])
        .exits(0)
        .json();
    let number = finding(&advised, "make")["number"].to_string();
    let note = format!("finding {number} (make) is left out");
    let says = |json: &Value| {
        let notes = json["notes"].as_array().unwrap();
        notes.iter().any(|n| n.as_str().unwrap().contains(&note))
    };
    assert!(says(&all), "{all:#}");
    let asked = whatif(&["--finding", &number]);
    assert_eq!(functions(&asked), ["make".to_owned()].into(), "{asked:#}");
    assert!(!says(&asked), "{asked:#}");
}

/// However soon the lines are used again: it is their stores that send them out.
#[test]
fn each_line_written_around_the_cache_leaves_for_memory() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <immintrin.h>
        #include <stdlib.h>
        enum { ROUNDS = 300, LINES = 512 };
        int main(void)
        {
            long long *data = aligned_alloc(4096, LINES * 64), sum = 0;
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < LINES * 8; i++)
                    _mm_stream_si64(data + i, i + round);
                _mm_sfence();
                for (int i = 0; i < LINES * 8; i++)
                    sum += data[i];
            }
            return sum == 1;
        }"#;
    let program = c_program(folder.path(), "around", source, &["-O2"]);
    let report = advise(&program, &[]);
    let stores = finding(&report, "main");
    let lines = stores["lines_to_memory"].as_u64().unwrap();
    assert_eq!(lines, 300 * 512, "{stores:#}");
    // Writing is nearly all that moves: it is no small part of the time.
    assert!(
        report["totals"]["write_time_share"].as_f64() > Some(0.25),
        "{report:#}"
    );
}

#[test]
fn a_program_that_does_next_to_nothing_gets_no_list_of_the_loaders_work() {
    for program in [&["sleep", "0.01"][..], &["sh", "-c", "echo done"]] {
        let mut all = vec!["advise", "-q", "--format", "json", "--"];
        all.extend(program);
        let report = run(all).exits(0).json();
        for f in common::findings(&report) {
            let module = f["module"].as_str().unwrap();
            if module.contains("/ld-linux") && f["writer"].is_null() {
                assert_eq!(f["verdict"], "leave-alone", "{f:#}");
                assert!(f["dismissed"].is_null(), "{f:#}");
                let reason = f["reason"].as_str().unwrap();
                assert!(reason.contains("dynamic loader"), "{f:#}");
            }
        }
        let mut command = prestore();
        command.args(["advise", "-q", "--"]).args(program);
        let said = common::Running::start(command).finish().exits(0).stdout;
        assert!(said.matches("dynamic loader").count() <= 1, "{said}");
    }
}
