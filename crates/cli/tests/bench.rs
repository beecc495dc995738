//! `prestore bench`: the workloads inside the command.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{assert_valid, prestore, run};
use serde_json::Value;

fn bench(arguments: &[&str]) -> Value {
    let mut command = prestore();
    command.args(["bench", "--format", "json", "--runs", "1"]);
    command.args(arguments);
    common::Running::start(command).finish().exits(0).json()
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
    let ran = common::Running::start(command).finish().exits(0);
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
