//! Predicted gains: `prestore whatif` and `prestore advise --machine`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{
    Running, advise_with, assert_valid, finding, prestore, recorded, run, text, workload,
};
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

/// What the threads did is not looked at for it: that of a long recording takes minutes.
#[test]
fn too_few_cores_are_told_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing1", &["--iters=60000", "--threads=3"]);
    let stream = dir.join("thread-1.events");
    let mut bytes = std::fs::read(&stream).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&stream, bytes).unwrap();
    let whatif = |machine| run(["whatif", text(&dir), "--machine", machine]).exits(2);
    whatif("tiny").says(&["tiny", "2 cores"]);
    whatif("machine-a").says(&["thread-1.events", "checksum"]);
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
    let once = ["--machine", "machine-a", "--simulations", "1"];
    let once = &whatif(&dir, &once)["machines"][0];
    let speedup = number(&once["baseline"]["cycles"]) / number(&once["advised"]["cycles"]);
    assert!((number(&once["speedup"]) / speedup - 1.0).abs() < 1e-9);
    assert_eq!(once["least"], once["most"]);

    // What is followed is what gains.
    for machine in machines {
        let best = machine["findings"].as_array().unwrap().iter();
        let best: Vec<&Value> = best
            .filter(|e| e["best"] == true)
            .map(|e| &e["finding"])
            .collect();
        let followed = machine["followed"].as_array().unwrap().iter();
        let followed: Vec<&Value> = followed.map(|f| &f["finding"]).collect();
        assert_eq!(best, followed, "{machine:#}");
        assert!(
            followed.is_empty() || number(&machine["speedup"]) > 1.0,
            "{machine:#}"
        );
    }
    // The least and the most of the simulations stand beside.
    assert_eq!(json["simulations"], 3);
    for e in a["findings"].as_array().unwrap() {
        assert!(number(&e["least"]) <= number(&e["speedup"]), "{e:#}");
        assert!(number(&e["speedup"]) <= number(&e["most"]), "{e:#}");
    }

    // The same command says the same.
    let again = whatif(&dir, &["--machine", "machine-a,machine-b-fast"]);
    assert_eq!(again, json);

    let words = run(["whatif", text(&dir), "--machine", "machine-a"])
        .exits(0)
        .stdout;
    for part in [
        "On machine-a",
        "finding 1: write_element",
        "clean: ",
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

    // Several at once, each alone and once.
    let both = whatif(&dir, &[&options[..], &["demote,clean,demote"]].concat());
    let effects = both["machines"][0]["findings"].as_array().unwrap();
    let tried = |op: &str| effects.iter().filter(|e| e["op"] == op).collect::<Vec<_>>();
    assert_eq!((effects.len(), tried("demote").len()), (2, 1), "{both:#}");
    assert_eq!(tried("clean")[0]["figures"], effect["figures"]);

    // Left alone where the analysis says so.
    let advised = whatif(&dir, &["--machine", "machine-a"]);
    let followed = advised["machines"][0]["findings"].as_array().unwrap();
    assert!(
        followed.iter().all(|f| f["function"] != "rewrite_line"),
        "{advised:#}"
    );
}

/// Cleans nothing that is not there: a demote where no instruction demotes gains nothing and is not in the headline.
#[test]
fn what_does_nothing_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing3", &["--iters=2000"]);
    let options = ["--machine", "machine-a", "--finding", "1", "--op", "demote"];
    let json = whatif(&dir, &options);
    let effect = &json["machines"][0]["findings"][0];
    assert_eq!(effect["best"], false);
    assert!(effect["idle"].as_str().unwrap().contains("demotes"));
    let words = run(["whatif", text(&dir)].iter().chain(&options))
        .exits(0)
        .stdout;
    assert!(
        words.contains("demote: does nothing: no instruction"),
        "{words}"
    );
}

/// Crafted data: the stores themselves, a buffer that is copied, the writer; the writer's own stores are not free.
#[test]
fn skipping_is_priced_in_each_way_to_write_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=3000", "--keys=2048"]);
    let advised = advise_stored(&dir);
    let number_of = finding(&advised, "craft_value")["number"].to_string();
    let options = ["--machine", "tiny", "--finding", &number_of, "--op", "skip"];
    let json = whatif(&dir, &options);
    let speedups: Vec<(&str, f64)> = (json["machines"][0]["findings"].as_array().unwrap().iter())
        .map(|e| (e["way"].as_str().unwrap(), number(&e["speedup"])))
        .collect();
    let of = |way: &str| speedups.iter().find(|s| s.0 == way).unwrap().1;
    assert_eq!(speedups.len(), 3, "{json:#}");
    assert!(of("writer") < of("in-place"), "{speedups:?}");
    assert!(of("writer") < of("buffer"), "{speedups:?}");

    let one = whatif(&dir, &[&options[..], &["--way", "buffer"]].concat());
    let effects = one["machines"][0]["findings"].as_array().unwrap();
    assert_eq!((effects.len(), &effects[0]["way"]), (1, &"buffer".into()));
    run(["whatif", text(&dir)]
        .iter()
        .chain(&options)
        .chain(&["--way", "call"]))
    .exits(2)
    .says(&["in-place, buffer or writer"]);
}

fn advise_stored(dir: &Path) -> Value {
    run(["advise", text(dir), "--format", "json"])
        .exits(0)
        .json()
}

/// The number of a finding is its name: the same beside the program, in a recording, with predictions and without.
#[test]
fn a_finding_has_the_same_number_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=24", "--steps=4"]);
    let plain = advise_stored(&dir);
    let predicted = [
        "advise",
        text(&dir),
        "--machine",
        "machine-a",
        "--simulations",
        "1",
    ];
    let predicted = run(predicted.iter().chain(&["--format", "json"]))
        .exits(0)
        .json();
    let told = whatif(&dir, &["--machine", "machine-a", "--simulations", "1"]);
    let numbered = |json: &Value| -> Vec<(u64, String, u64)> {
        let mut all: Vec<_> = (json["findings"].as_array().unwrap().iter())
            .map(|f| {
                let line = f["line"].as_u64().unwrap_or(0);
                (
                    f["number"].as_u64().unwrap(),
                    f["function"].to_string(),
                    line,
                )
            })
            .collect();
        all.sort();
        all
    };
    let known = numbered(&plain);
    assert_eq!(numbered(&predicted), known);
    for e in told["machines"][0]["findings"].as_array().unwrap() {
        let line = e["line"].as_u64().unwrap_or(0);
        let named = (
            e["finding"].as_u64().unwrap(),
            e["function"].to_string(),
            line,
        );
        assert!(known.contains(&named), "{named:?} {known:#?}");
    }
}

#[test]
fn the_first_part_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing1", &LISTING1);
    let whole = whatif(&dir, &["--machine", "tiny"]);
    let part = whatif(&dir, &["--machine", "tiny", "--limit", "100K"]);
    let cycles = |json: &Value| number(&json["machines"][0]["baseline"]["cycles"]);
    assert!(cycles(&part) < cycles(&whole) / 4.0);
    let limited = |json: &Value| {
        let mut notes = json["machines"][0]["notes"].as_array().unwrap().iter();
        notes.any(|n| n.as_str().unwrap().contains("first 100000 operations"))
    };
    assert!(limited(&part) && !limited(&whole));
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
    // Everything fits the caches: cleaning only costs. The analysis is told of a smaller one, as it
    // would give no advice else.
    let program = workload("listing1").unwrap();
    let options = "advise --threshold near_bytes=65536 --threshold kept_bytes=65536 --threshold reach_bytes=65536 --machine machine-a --";
    let args = ["--iters=4000", "--elements=1024"];
    let ran = run(options.split(' ').chain([text(&program)]).chain(args)).exits(0);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "a loss",
        "not this way on this machine",
        "no piece of advice is predicted",
        "which fits machine-a's L3",
    ] {
        assert!(said.contains(part), "'{part}' is missing: {ran:#?}");
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
    // So is what a machine needs and the recording would not have.
    let cxl = "spr-cxl-dram";
    let mut placed = prestore();
    placed.args([
        "advise",
        "--no-allocations",
        "--machine",
        "placed.toml",
        "--",
        text(&program),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let rules = "rules = [{ of = { kind = \"allocations-from\", size = { is = \"1 MiB\", assumed = \"a test\" } }, memory = \"dram\" }]";
    let file = format!("description = \"x\"\ninherits = \"{cxl}\"\n[placement]\n{rules}\n");
    std::fs::write(folder.path().join("placed.toml"), file).unwrap();
    placed.current_dir(folder.path());
    let ran = Running::start(placed)
        .finish()
        .exits(2)
        .says(&["--no-allocations", "leave"]);
    assert_eq!(ran.stdout, "");
    run(["whatif", dir, "--machine", "tiny,tiny"])
        .exits(2)
        .says(&["names tiny twice"]);
}
