//! What the scopes, windows and regions let through.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{
    Running, advise, advise_with, finding, findings, kv, prestore, run, steady_program, text,
};
use serde_json::Value;

const SHORT: &str = "--ops=100K";

fn functions(report: &Value) -> Vec<&str> {
    let names = findings(report)
        .iter()
        .map(|f| f["function"].as_str().unwrap());
    names.collect()
}

#[test]
fn counts_are_those_of_all_accesses() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let counts = advise_with(&["--scope", "count"], &program, &[]);
    let all = advise(&program, &[]);
    assert_eq!(counts["instructions"], all["totals"]["instructions"]);
    assert_eq!(counts["stores"], all["totals"]["stores"]);
    let much = &counts["functions"][0];
    assert_eq!(much["function"], "much");
    assert_eq!(much["stores"], 20 << 16);
    assert_eq!(finding(&all, "much")["stores"], 20 << 16);
    assert_eq!(counts["functions"][1]["stores"], 20 << 12);
}

#[test]
fn functions_are_those_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let options = ["--scope", "functions", "--function", "little"];
    let little = advise_with(&options, &program, &[]);
    assert_eq!(functions(&little), ["little"]);
    assert_eq!(little["scope"], "functions");
    let all = advise(&program, &[]);
    let (chosen, known) = (finding(&little, "little"), finding(&all, "little"));
    for key in [
        "stores",
        "store_bytes",
        "sequential_share",
        "rewrite",
        "line",
    ] {
        assert_eq!(chosen[key], known[key], "{key}");
    }
}

#[test]
fn functions_that_nothing_ran_of_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let dir = folder.path().join("a trace");
    let recorded = |names: &[&str]| {
        let mut command = prestore();
        command.args(["record", "--force", "-o", text(&dir)]);
        command.args(["--scope", "functions"]);
        for name in names {
            command.args(["--function", name]);
        }
        Running::start({
            command.arg("--").arg(&program);
            command
        })
        .finish()
    };
    recorded(&["little", "nosuch"]).exits(0).says(&[
        "no stores of nosuch were seen",
        "--scope count",
        // As a shell reads it back.
        &format!("next: prestore advise '{}'", text(&dir)),
    ]);
    recorded(&["nosuch"])
        .exits(3)
        .says(&["no stores of nosuch were seen", "--scope count"]);
}

#[test]
fn without_names_they_are_those_that_store_most() {
    let mut command = prestore();
    command.args(["advise", "--format", "json", "--scope", "functions", "--"]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish().exits(0);
    let ran = ran.says(&["functions that store most: craft_value"]);
    let report = ran.json();
    let value = finding(&report, "craft_value");
    assert_eq!(value["verdict"], "skip");
    // Shares are of all the program's stores, which the first run counted.
    let all = advise(&kv(), &[SHORT]);
    let share = |f: &Value| f["store_share"].as_f64().unwrap();
    let difference = share(value) - share(finding(&all, "craft_value"));
    assert!(difference.abs() < 0.001, "{difference}");
}

#[test]
fn recorded_functions_give_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let dir = folder.path().join("steady.trace");
    let options = ["--scope", "functions", "--function", "much"];
    let mut command = prestore();
    command.args(["record", "-o", text(&dir)]).args(options);
    command.arg("--").arg(&program);
    Running::start(command).finish().exits(0);
    let stored = run(["advise", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    let live = advise_with(&options, &program, &[]);
    assert_eq!(functions(&stored), ["much"]);
    for key in ["stores", "verdict", "contexts", "rewrite", "fence_distance"] {
        let (stored, live) = (finding(&stored, "much"), finding(&live, "much"));
        assert_eq!(stored[key], live[key], "{key}");
    }
}

#[test]
fn a_function_that_never_ran_is_named() {
    let mut command = prestore();
    command.args([
        "advise",
        "--scope",
        "functions",
        "--function",
        "no_such_function",
        "--",
    ]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish();
    assert_eq!(ran.code(), 3, "{ran:#?}");
    ran.says(&["no_such_function", "--scope count"]);
}

#[test]
fn without_counters_samples_become_counts() {
    let mut command = prestore();
    command.args(["advise", "--scope", "sample", "--format", "json", "--"]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish().exits(0);
    let report = ran.json();
    assert_eq!(report["functions"][0]["function"], "craft_value");
    if report["scope"] == "sample" {
        assert_eq!(report["exactness"]["kind"], "sampled");
        return;
    }
    assert_eq!(report["scope"], "count");
    assert_eq!(report["exactness"]["kind"], "exact");
    ran.says(&["no store samples:", "counting stores exactly instead"]);
}

#[test]
fn a_window_bounds_what_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let whole = advise(&program, &[]);
    let total = |report: &Value, what: &str| report["totals"][what].as_u64().unwrap();
    let all = total(&whole, "stores");
    let options = ["--skip", "1M", "--take", "1M"];
    let report = advise_with(&options, &program, &[]);
    assert_eq!(report["exactness"]["kind"], "windowed");
    // Every loop of the program stores about as often; the window is exact to a block.
    let stores = total(&report, "stores") as f64;
    let expected = all as f64 * 1e6 / total(&whole, "instructions") as f64;
    assert!(
        (stores / expected - 1.0).abs() < 0.1,
        "{stores}, {expected}"
    );
    let detail = report["exactness"]["detail"].as_str().unwrap();
    assert!(detail.contains("1.00 M of"), "{detail}");

    let options = ["--take", "100K", "--period", "1M", "--scope", "count"];
    let counts = advise_with(&options, &program, &[]);
    let counted = counts["stores"].as_u64().unwrap();
    assert!(
        counted > all / 20 && counted < all / 5,
        "{counted} of {all}"
    );
}

#[test]
fn a_region_is_a_phase_of_the_program() {
    let whole = advise(&kv(), &[SHORT]);
    let phase = advise_with(&["--region", "1"], &kv(), &[SHORT]);
    let any = advise_with(&["--region", "any"], &kv(), &[SHORT]);
    assert_eq!(phase["exactness"]["kind"], "windowed");
    let stores = |report: &Value| finding(report, "craft_value")["stores"].as_u64().unwrap();
    // The load phase crafts 32 Ki values of 128 words, outside the region.
    assert_eq!(stores(&whole) - stores(&phase), (32 << 10) * 128);
    assert_eq!(stores(&phase), stores(&any));
    assert_eq!(finding(&phase, "craft_value")["verdict"], "skip");
}
