//! The same run gives the same findings, seen live or read from a recording.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{advise, advise_with, findings, run, steady_program, text, workload};
use serde_json::Value;

/// The program's findings about memory it allocated, without their share of all stores and the
/// nearest fence. What the kernel places anew for each run differs: which variables on the stack
/// share a line, and with that how they are used, and a few stores of the libraries that start the
/// program. So does the printing of the time that the program took, which ends in a fence.
fn of_allocated_memory(report: &Value) -> Vec<Value> {
    let own = |f: &&Value| {
        let file = f["file"].as_str().unwrap_or_default();
        file.contains("/workloads/") && !f["allocations"].as_array().unwrap().is_empty()
    };
    let mut all: Vec<Value> = findings(report).iter().filter(own).cloned().collect();
    for finding in &mut all {
        let keys = finding.as_object_mut().unwrap();
        assert!(keys.remove("store_share").is_some());
        let fence = keys["fence_distance"].as_object_mut().unwrap();
        assert!(fence.remove("min").is_some());
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
