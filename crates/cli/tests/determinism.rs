//! The same run gives the same findings, seen live or read from a recording.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{advise, advise_with, findings, run, steady_program, text, workload};
use serde_json::{Value, json};

/// What cannot differ between two runs of a workload. Its clock takes some instructions more or
/// less to read, and the kernel places the stack anew, so variables on it share other lines: that
/// moves mean distances, and all that is on the stack.
fn of_allocated_memory(report: &Value) -> Vec<Value> {
    let own = |f: &&Value| {
        let file = f["file"].as_str().unwrap_or_default();
        file.contains("/workloads/") && !f["allocations"].as_array().unwrap().is_empty()
    };
    let known = |f: &Value| {
        let contexts = f["contexts"].as_array().unwrap().iter();
        let contexts: Vec<Value> = contexts
            .map(|c| json!([c["bytes"], c["count"], c["share"], c["reread_share"]]))
            .collect();
        let keys = [
            "function",
            "line",
            "verdict",
            "stores",
            "store_bytes",
            "sites",
        ];
        let mut known: Vec<Value> = keys.iter().map(|key| f[*key].clone()).collect();
        known.extend(["sequential_share", "reread_share", "rewrite_share"].map(|k| f[k].clone()));
        known.extend(contexts);
        json!(known)
    };
    findings(report).iter().filter(own).map(known).collect()
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
        let known = of_allocated_memory(&first);
        assert!(!known.is_empty(), "{first:#}");
        assert_eq!(known, of_allocated_memory(&second), "{name}");
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
