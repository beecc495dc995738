//! `--sample`: what the verbs say of it, and what they refuse.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{Ran, assert_valid, recorded, run, text};

fn simulate(dir: &Path, options: &[&str]) -> Ran {
    let machine = ["--machine", "tiny"];
    run(["simulate", text(dir)]
        .iter()
        .chain(&machine)
        .chain(options))
}

const UNITS: [&str; 7] = [
    "--sample",
    "--sample-units=20",
    "--sample-length=2000",
    "--sample-detail=1000",
    "--sample-warm=20K",
    "--format",
    "json",
];

#[test]
fn results_say_what_they_are_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=16", "--steps=4"]);
    let whole = simulate(&dir, &["--format", "json"]).exits(0);
    let json = whole.json();
    assert_valid("simulate.schema.json", &json);
    assert!(
        json.get("sampled").is_none(),
        "nothing new without --sample"
    );
    let instructions = json["instructions"].clone();

    let first = simulate(&dir, &UNITS).exits(0);
    let json = first.json();
    assert_valid("simulate.schema.json", &json);
    assert_eq!(json["instructions"], instructions, "one thread's are known");
    let sampled = &json["sampled"];
    // Four more at the start; the last may begin too late to be measured.
    assert!(
        (23..=24).contains(&sampled["units"].as_u64().unwrap()),
        "{sampled}"
    );
    assert_eq!(sampled["warm"], 20_000);
    assert!(sampled["measured"].as_u64() < sampled["operations"].as_u64());
    assert!(sampled["figures"]["media_write_bytes"]["value"].as_f64() > Some(0.0));
    assert_eq!(
        simulate(&dir, &UNITS).stdout,
        first.stdout,
        "a seed, a result"
    );
    let other = simulate(&dir, &[&UNITS[..], &["--seed=2"]].concat()).exits(0);
    assert_ne!(other.json()["cycles"], json["cycles"]);

    let plain = simulate(&dir, &UNITS[..5]).exits(0).stdout;
    for part in ["± ", " units of 2000 operations", "95 % intervals"] {
        assert!(plain.contains(part), "'{part}' is missing: {plain}");
    }
    assert_wide_intervals_ask_for_more(&dir);
}

/// Small rows bring few lines: as many operations as fill the cache of another program leave this one's nearly empty, and what is
/// empty writes nothing back. More than half of it is there; what start-up left in the cache is clean and stays for long.
#[test]
fn caches_are_full_where_few_lines_come() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "fft", &["--points=16", "--rows=6000"]);
    let simulated = |options: &[&str]| {
        let large = ["--set=caches.L2.size=256KiB", "--format=json"];
        let json = simulate(&dir, &[&large[..], options].concat());
        json.exits(0).json()
    };
    let written = |options: &[&str]| {
        let bytes = &simulated(options)["bytes"]["L2_to_memory"];
        bytes.as_f64().unwrap()
    };
    let truth = written(&[]);
    let seeds = ["--seed=1", "--seed=2", "--seed=3"];
    let units = [
        "--sample",
        "--sample-length=2000",
        "--sample-detail=2000",
        "--sample-warm=1K",
    ];
    let shares = seeds.map(|seed| written(&[&units[..], &[seed]].concat()) / truth);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean > 0.5, "{shares:?} of what the whole writes back");
    // As they are few, it is never turned over before a unit, and that is said where nobody has asked for as much.
    let is_said = |options: &[&str]| {
        let notes = simulated(options)["notes"].to_string();
        notes.contains("too little warmed to turn the largest cache over")
    };
    assert!(is_said(&units[..3]));
    assert!(!is_said(&units));
}

/// Whichever way they are simulated, they are the same units, and what is known of caches before the first of a run is near
/// enough.
#[test]
fn units_are_simulated_in_runs_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=16", "--steps=12"]);
    let asked = |warm: &str, runs: &[&str]| {
        let mut units = UNITS;
        units[4] = warm;
        let json = simulate(&dir, &[&units[..], runs].concat()).exits(0).json();
        let sampled = json["sampled"].clone();
        let runs = sampled["runs"].as_u64().unwrap();
        let number = |name: &str| sampled[name].as_u64().unwrap();
        let cycles = |end: &str| sampled["cycles"][end].as_f64().unwrap();
        let cycles = cycles("least")..=cycles("most");
        (runs, number("units"), number("warmed"), cycles)
    };
    let one = asked(UNITS[4], &["--sample-runs=1"]);
    let two = asked(UNITS[4], &[]);
    let five = asked(UNITS[4], &["--sample-runs=5"]);
    assert_eq!([one.0, two.0, five.0], [1, 2, 5]);
    // Eight more at the start. The last may begin too late to be measured, and then does so with others before it or not.
    for units in [one.1, two.1, five.1] {
        assert!((27..=28).contains(&units), "{one:?} {two:?} {five:?}");
    }
    assert!(one.2 < two.2 && two.2 < five.2, "{one:?} {two:?} {five:?}");
    for other in [two, five] {
        let (most, least) = (*one.3.end(), *one.3.start());
        let overlap = *other.3.start() <= most && least <= *other.3.end();
        assert!(overlap, "{one:?} {other:?}");
    }
    let all = asked("--sample-warm=all", &["--sample-runs=5"]);
    assert_eq!(all.0, 1, "all that lies before warms the first");
    let plain = simulate(&dir, &UNITS[..5]).exits(0).stdout;
    assert!(plain.contains("operations in 2 runs ("), "{plain}");
}

/// What five short units know of the time differs with where they fall, and the places differ with the machine that
/// recorded: of several seeds some know too little, and exactly those say so.
fn assert_wide_intervals_ask_for_more(dir: &Path) {
    let few = ["--sample", "--sample-units=5", "--sample-length=128"];
    let mut asked = 0;
    for seed in 1..=8 {
        let seed = format!("--seed={seed}");
        let told = simulate(dir, &[&few[..], &["--sample-detail=0", &seed]].concat()).exits(0);
        let words: Vec<&str> = told.stdout.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "±").unwrap();
        let percent: f64 = words[at + 1].parse().unwrap();
        let asks = words
            .join(" ")
            .contains("units more are needed (--sample-units");
        // What is told as 5.0 may be either side of it.
        if percent != 5.0 {
            assert_eq!(asks, percent > 5.0, "{}", told.stdout);
        }
        asked += u32::from(asks);
    }
    assert!(asked > 0, "every sample of 640 operations was enough");
}

#[test]
fn short_recordings_are_simulated_whole_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=8", "--steps=1"]);
    let mut whole = simulate(&dir, &["--format", "json"]).exits(0).json();
    let mut asked = simulate(&dir, &["--sample", "--format", "json"])
        .exits(0)
        .json();
    let notes = asked["notes"].as_array_mut().unwrap();
    let note = notes.pop().unwrap();
    assert!(
        note.as_str()
            .unwrap()
            .contains("too few to be worth a sample")
    );
    assert_eq!(asked["notes"].take(), whole["notes"].take());
    assert_eq!(asked, whole);
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=16", "--steps=2"]);
    let wrong = |options: &[&str], parts: &[&str]| {
        simulate(&dir, options).exits(2).says(parts);
    };
    wrong(&["--sample-units=5"], &["--sample"]);
    wrong(&["--sample-runs=2"], &["--sample"]);
    wrong(&["--sample", "--sample-runs=0"], &["0 is not in"]);
    wrong(&["--sample", "--sample-units=1"], &["1 is not in"]);
    wrong(&["--sample", "--sample-length=0"], &["--sample-length"]);
    wrong(&["--sample", "--sample-warm=lots"], &["--sample-warm"]);
    for other in ["--region=1", "--limit=5K", "--warmup=5", "--type=main:UC"] {
        wrong(&["--sample", other], &["cannot be used with", "--sample"]);
    }
    let placed = folder.path().join("placed.toml");
    let rules =
        r#"rules = [{ of = { kind = "allocations-from", size = "4 KiB" }, memory = "dram" }]"#;
    let described = format!("inherits = \"tiny\"\n[placement]\nsource = \"a test\"\n{rules}\n");
    std::fs::write(&placed, described).unwrap();
    let options = [
        "--sample",
        "--sample-units=2",
        "--sample-length=500",
        "--sample-detail=500",
        "--machine",
    ];
    run(["simulate", text(&dir)]
        .iter()
        .chain(&options)
        .chain(&[text(&placed)]))
    .exits(2)
    .says(&["places allocations", "without"]);
}

#[test]
fn gains_are_told_with_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--n=16", "--steps=6"]);
    let options = ["--machine", "machine-a", "--simulations=1", "--quiet"];
    let whatif = |more: &[&str]| run(["whatif", text(&dir)].iter().chain(&options).chain(more));
    let mut units = UNITS;
    units[4] = "--sample-warm=all";
    let json = whatif(&units).exits(0).json();
    assert_valid("whatif.schema.json", &json);
    assert_eq!(json["sampled_units"], 20);
    let machine = &json["machines"][0];
    assert!(machine["baseline"]["within_percent"].as_f64() > Some(0.0));
    let whole = whatif(&["--format", "json"]).exits(0).json();
    assert!(whole.get("sampled_units").is_none());
    let of = |json: &serde_json::Value| json["machines"][0]["findings"].clone();
    let (sampled, whole) = (of(&json), of(&whole));
    let (sampled, whole) = (sampled.as_array().unwrap(), whole.as_array().unwrap());
    assert_eq!(sampled.len(), whole.len());
    assert!(!whole.is_empty(), "the stencil has advice to follow");
    for (s, w) in sampled.iter().zip(whole) {
        let number = |v: &serde_json::Value, key: &str| v[key].as_f64().unwrap();
        assert!(number(s, "least") <= number(s, "speedup"), "{s:#}");
        // A recording this short is all start, which the large cache of this machine takes long to forget.
        let off = number(s, "speedup") / number(w, "speedup") - 1.0;
        assert!(off.abs() < 0.2, "{off}: {s:#} {w:#}");
    }
}
