//! `prestore bench`: the workloads inside the command.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Running, assert_valid, prestore, run};
use serde_json::Value;

fn bench(arguments: &[&str]) -> Value {
    let mut command = prestore();
    command.args(["bench", "--format", "json", "--runs", "1"]);
    command.args(arguments);
    Running::start(command).finish().exits(0).json()
}

fn variants(case: &Value) -> Vec<&str> {
    let variants = case["variants"].as_array().unwrap();
    variants
        .iter()
        .map(|v| v["variant"].as_str().unwrap())
        .collect()
}

#[test]
fn figures_follow_their_schema() {
    let json = bench(&["--program", "listing3,ring", "--ops", "demote"]);
    assert_valid("bench.schema.json", &json);
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!(variants(case), ["base", "demote"]);
        assert!(case["variants"][0]["speedup"].is_null());
        assert!(case["variants"][1]["speedup"]["median"].as_f64() > Some(0.0));
    }
}

#[test]
fn an_operation_that_does_nothing_is_said_aloud() {
    let mut command = prestore();
    command.args([
        "bench",
        "--program",
        "listing3",
        "--ops",
        "demote",
        "--runs",
        "1",
    ]);
    command.env("PRESTORE_FORCE_DEMOTE", "none");
    let ran = Running::start(command).finish().exits(0);
    assert!(ran.stdout.contains("demote  none (no effect)"), "{ran:?}");
    assert!(
        ran.stdout.contains("demote does nothing on this host"),
        "{ran:?}"
    );
}

#[test]
fn sizes_and_threads_are_those_asked_for() {
    let json = bench(&[
        "--program",
        "kv",
        "--sizes",
        "64",
        "--threads",
        "1,2",
        "--ops",
        "base",
    ]);
    let cases = json["cases"].as_array().unwrap();
    let threads: Vec<u64> = cases
        .iter()
        .map(|c| c["threads"].as_u64().unwrap())
        .collect();
    assert_eq!(threads, [1, 2]);
    assert!(
        cases
            .iter()
            .all(|c| c["size"] == 64 && variants(c) == ["base"])
    );
}

#[test]
fn what_cannot_be_benched_is_wrong_usage() {
    run(["bench", "--sizes", "100"])
        .exits(2)
        .says(&["multiples of 64"]);
    run(["bench", "--program", "kv", "--ops", "demote"])
        .exits(2)
        .says(&["kv and stencil have clean and skip"]);
    run(["bench", "--program", "nothing"]).exits(2);
    run(["bench", "--runs", "0"]).exits(2);
}

#[test]
fn predictions_follow_the_schema() {
    // Any machine will do: what is tested is the form.
    let json = bench(&[
        "--program",
        "listing3",
        "--predict",
        "--machine",
        "machine-a",
    ]);
    assert_valid("bench.schema.json", &json);
    assert_eq!(json["prediction"]["machine"], "machine-a");
    let variants = json["cases"][0]["variants"].as_array().unwrap();
    for variant in variants {
        assert!(variant["predicted"]["seconds"].as_f64() > Some(0.0));
    }
    assert!(variants[0]["predicted"]["speedup"].is_null());
    // A line that is cleaned after each write waits for memory: whatever the machine.
    let clean = variants.iter().find(|v| v["variant"] == "clean").unwrap();
    assert!(clean["predicted"]["speedup"].as_f64() < Some(0.5), "{json}");
}

#[test]
fn a_host_that_was_not_measured_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = prestore();
    command.args(["bench", "--predict"]);
    command.env("XDG_CONFIG_HOME", folder.path());
    command.env_remove("PRESTORE_MACHINE_PATH");
    Running::start(command)
        .finish()
        .exits(2)
        .says(&["prestore machine calibrate", "--machine"]);
}

#[test]
fn what_cannot_be_predicted_is_wrong_usage() {
    run(["bench", "--predict", "--machine", "machine-z"])
        .exits(2)
        .says(&["machine-z"]);
    run(["bench", "--machine", "machine-a"])
        .exits(2)
        .says(&["--predict"]);
    run([
        "bench",
        "--predict",
        "--machine",
        "tiny",
        "--program",
        "kv",
        "--threads",
        "64",
    ])
    .exits(2)
    .says(&["64 threads", "cores"]);
}

#[test]
fn types_without_the_module_are_a_usage_error_that_says_how_to_get_it() {
    if std::path::Path::new("/dev/prestore").exists() {
        eprintln!("SKIPPED: the module prestore is loaded here");
        return;
    }
    run(["bench", "--types"]).exits(2).says(&[
        "not loaded",
        "modprobe prestore",
        "docs/memory-types.md",
    ]);
    run(["bench", "--types", "--program", "kv"])
        .exits(2)
        .says(&["--types"]);
}
