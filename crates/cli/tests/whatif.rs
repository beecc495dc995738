//! Predicted gains: `prestore whatif` and `prestore advise --machine`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{advise_with, assert_valid, recorded, run, text, workload};
use serde_json::Value;

/// Enough to fill machine-a's caches: P0's figure 3, small. Elements are not re-read soon.
const LISTING1: [&str; 2] = ["--iters=60000", "--elements=65536"];

fn whatif(dir: &Path, options: &[&str]) -> Value {
    let command = ["whatif", text(dir), "--format", "json"];
    let json = run(command.iter().chain(options)).exits(0).json();
    assert_valid("whatif.schema.json", &json);
    json
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn gains_on_several_machines() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing1", &LISTING1);
    let json = whatif(&dir, &["--machine", "machine-a,machine-b-fast"]);
    let machines = json["machines"].as_array().unwrap();
    let names: Vec<&str> = machines
        .iter()
        .map(|m| m["machine"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["machine-a", "machine-b-fast"]);

    // Cleaning ends the amplification on Optane; there is none on machine B, whose lines are as
    // large as its memory's units (P0, table 1).
    let [a, b] = [&machines[0], &machines[1]];
    let cleaned = &a["findings"][0];
    assert_eq!(cleaned["op"], "clean", "{a:#}");
    assert!(number(&a["baseline"]["write_amplification"]) > 2.0, "{a:#}");
    assert!(
        number(&cleaned["figures"]["write_amplification"]) < 1.3,
        "{a:#}"
    );
    assert!(number(&b["baseline"]["write_amplification"]) < 1.1, "{b:#}");
    for machine in machines {
        let speedup =
            number(&machine["baseline"]["cycles"]) / number(&machine["advised"]["cycles"]);
        assert!((number(&machine["speedup"]) / speedup - 1.0).abs() < 1e-9);
    }

    // The same command says the same.
    let again = whatif(&dir, &["--machine", "machine-a,machine-b-fast"]);
    assert_eq!(again, json);

    let words = run(["whatif", text(&dir), "--machine", "machine-a"])
        .exits(0)
        .stdout;
    for part in [
        "On machine-a, with all advice",
        "finding 1: write_element",
        "amplification",
    ] {
        assert!(words.contains(part), "'{part}' is missing: {words}");
    }
}

#[test]
fn another_operation_at_a_chosen_finding() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing3", &["--iters=20000"]);
    let options = ["--machine", "machine-a", "--finding", "1", "--op"];
    let clean = whatif(&dir, &[&options[..], &["clean"]].concat());
    let effect = &clean["machines"][0]["findings"][0];
    assert_eq!(effect["op"], "clean");
    assert_eq!(effect["verdict"], "leave-alone", "{clean:#}");
    // P0, listing 3: cleaning a line that is written again at once is what not to do.
    assert!(number(&effect["speedup"]) < 0.2, "{clean:#}");

    let words = run(["whatif", text(&dir)]
        .iter()
        .chain(&options)
        .chain(&["clean"]))
    .exits(0);
    assert!(words.stdout.contains("a loss"), "{words:#?}");

    // Left alone where the analysis says so.
    let advised = whatif(&dir, &["--machine", "machine-a"]);
    let followed = advised["machines"][0]["findings"].as_array().unwrap();
    assert!(
        followed.iter().all(|f| f["function"] != "rewrite_line"),
        "{advised:#}"
    );
}

#[test]
fn the_first_part_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing1", &LISTING1);
    let whole = whatif(&dir, &["--machine", "tiny"]);
    let part = whatif(&dir, &["--machine", "tiny", "--limit", "100K"]);
    let cycles = |json: &Value| number(&json["machines"][0]["baseline"]["cycles"]);
    assert!(cycles(&part) < cycles(&whole) / 4.0);
    let note = part["machines"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("first 100000 operations"), "{note}");
    assert_eq!(whole["machines"][0]["notes"].as_array().unwrap().len(), 0);
}

#[test]
fn gains_beside_the_findings() {
    let program = workload("listing1").unwrap();
    let options = ["--machine", "machine-a,machine-b-fast"];
    let json = advise_with(&options, &program, &LISTING1);
    assert_valid("advise.schema.json", &json);
    let first = &json["findings"][0];
    let predicted = first["predicted"].as_array().unwrap();
    let on: Vec<&str> = predicted
        .iter()
        .map(|p| p["machine"].as_str().unwrap())
        .collect();
    assert!(
        on.contains(&"machine-a") && on.contains(&"machine-b-fast"),
        "{first:#}"
    );
    // What gains most comes first.
    let best: Vec<f64> = (json["findings"].as_array().unwrap().iter())
        .filter_map(|f| {
            let all = f["predicted"].as_array().unwrap();
            all.iter().map(|p| number(&p["speedup"])).reduce(f64::max)
        })
        .collect();
    assert!(best.is_sorted_by(|a, b| a >= b), "{best:?}");
}

#[test]
fn a_predicted_loss_is_said_in_words() {
    // Everything fits the caches: cleaning only costs.
    let program = workload("listing1").unwrap();
    let args = ["--iters=4000", "--elements=1024"];
    let ran = run(["advise", "--machine", "machine-a", "--", text(&program)]
        .iter()
        .chain(&args))
    .exits(0);
    for part in [
        "a loss",
        "leave it alone on this machine",
        "no piece of advice is predicted",
    ] {
        assert!(ran.stdout.contains(part), "'{part}' is missing: {ran:#?}");
    }
}

#[test]
fn what_cannot_be_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing3", &["--iters=2000"]);
    let dir = text(&dir);
    let program = workload("listing3").unwrap();
    let on = ["--machine", "machine-a"];
    run(["whatif", dir]).exits(2).says(&["--machine"]);
    run(["whatif", dir, "--machine", "machine-z"])
        .exits(2)
        .says(&["machine-z", "prestore machine list"]);
    run(["whatif", dir, on[0], on[1], "--finding", "99"])
        .exits(2)
        .says(&["--finding 99", "findings 1 to"]);
    run(["whatif", dir, on[0], on[1], "--finding", "1"])
        .exits(2)
        .says(&["leave it alone", "--op"]);
    run(["whatif", dir, on[0], on[1], "--op", "clean"])
        .exits(2)
        .says(&["--finding"]);
    run(["whatif", dir, on[0], on[1], "--limit", "0"])
        .exits(2)
        .says(&["at least 1"]);
    run(["advise", "--limit", "1M", "--", text(&program)])
        .exits(2)
        .says(&["--machine"]);
    // Told before the program runs.
    let wrong = ["advise", "--machine", "machine-z", "--", text(&program)];
    let ran = run(wrong).exits(2).says(&["machine-z"]);
    assert_eq!(ran.stdout, "");
    run([
        "advise",
        "--scope",
        "count",
        on[0],
        on[1],
        "--",
        text(&program),
    ])
    .exits(2)
    .says(&["--scope", "simulates what was recorded"]);
}
