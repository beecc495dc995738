//! The same run gives the same findings, seen live or read from a recording.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{advise, advise_with, findings, run, steady_program, text, workload};
use serde_json::Value;

/// Findings without their share of all stores: the start of a program with libraries executes a
/// few stores more or less, as the kernel puts its stack.
fn without_shares(report: &Value) -> Vec<Value> {
    let mut all = findings(report).to_vec();
    for finding in &mut all {
        let share = finding.as_object_mut().unwrap().remove("store_share");
        assert!(share.is_some());
    }
    all
}

#[test]
fn two_runs_give_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let (first, second) = (advise(&program, &[]), advise(&program, &[]));
    assert_eq!(findings(&first).len(), 2, "{first:#}");
    assert_eq!(first, second);
}

#[test]
fn two_runs_of_workloads_give_the_same_findings() {
    for (name, args) in [
        // Not listing 1: the C library's memcpy chooses its direction by where source and
        // destination lie in their pages, and the source is on the stack.
        ("listing2", &["--iters=20K"][..]),
        ("stencil", &["--steps=4"]),
        ("tensor", &["--small-count=20K"]),
        ("kv", &["--ops=20K"]),
    ] {
        let program = workload(name).unwrap();
        let (first, second) = (advise(&program, args), advise(&program, args));
        assert!(!findings(&first).is_empty(), "{first:#}");
        assert_eq!(without_shares(&first), without_shares(&second), "{name}");
    }
}

#[test]
fn a_recording_gives_the_findings_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let stored = |dir: &Path| {
        let ran = run(["advise", text(dir), "--format", "json"]).exits(0);
        ran.json()
    };
    let kept = folder.path().join("kept.trace");
    let kv = workload("kv").unwrap();
    let live = advise_with(&["-o", text(&kept)], &kv, &["--ops=20K"]);
    let read = stored(&kept);
    assert_eq!(findings(&live), findings(&read));
    assert_eq!(live["totals"], read["totals"]);

    let program = steady_program(folder.path());
    let live = advise(&program, &[]);
    let recorded = folder.path().join("recorded.trace");
    run(["record", "-o", text(&recorded), "--", text(&program)]).exits(0);
    let read = stored(&recorded);
    assert_eq!(findings(&live), findings(&read));
    assert_eq!(live["totals"], read["totals"]);
}
