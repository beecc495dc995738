//! Caching modes: `prestore simulate --type` and `prestore whatif --types`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

mod common;

use std::path::Path;

use common::{assert_valid, recorded, run, text};
use serde_json::Value;

const MACHINE: [&str; 2] = ["--machine", "hp-e5620"];
/// What the programs map without a file.
const FILE: &str = "memfd:modes";
const MODES: [&str; 5] = ["WB", "WT", "WC", "UC", "NT"];

fn cycles(dir: &Path, types: &[&str]) -> u64 {
    let command = ["simulate", "--format", "json", "-q", text(dir)];
    let types = types.iter().flat_map(|of| ["--type", of]);
    let command = command.iter().copied().chain(MACHINE).chain(types);
    let results = run(command).exits(0).json();
    assert_valid("simulate.schema.json", &results);
    results["cycles"].as_u64().unwrap()
}

fn compared(dir: &Path, options: &[&str]) -> Value {
    let command = ["whatif", "--types", "--format", "json", "-q", text(dir)];
    let command = command.iter().copied().chain(MACHINE);
    let report = run(command.chain(options.iter().copied())).exits(0).json();
    assert_valid("whatif-types.schema.json", &report);
    report
}

#[test]
fn loads_of_ranges_wait_for_their_addresses_too() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(
        folder.path(),
        "modes_hash",
        &["--elements=1000", "--traversals=3"],
    );
    for mode in ["WB", "WT"] {
        let range = format!("{FILE}:{mode}");
        let command = [
            "simulate",
            "--format",
            "json",
            "-q",
            text(&dir),
            "--type",
            &range,
        ];
        let cycles = |options: &[&'static str]| {
            let options = MACHINE.iter().copied().chain(options.iter().copied());
            let results = run(command.iter().copied().chain(options)).exits(0).json();
            results["cycles"].as_u64().unwrap()
        };
        let (waits, at_once) = (cycles(&[]), cycles(&["--independent-loads"]));
        assert!(waits > at_once, "{mode}: {waits} and {at_once} cycles");
    }
}

/// The winner of `range` is that of simulations by hand, and costs what they do.
#[track_caller]
fn same_by_hand(dir: &Path, range: &str, options: &[&str]) {
    let report = compared(dir, options);
    let found = &report["machines"][0]["ranges"][0];
    let by_hand = MODES.map(|mode| (cycles(dir, &[&format!("{range}:{mode}")]), mode));
    let best = by_hand.iter().min_by_key(|(cycles, _)| *cycles).unwrap();
    assert_eq!(found["best"], best.1, "{by_hand:?}");
    for (cycles, mode) in by_hand {
        let mut all = found["modes"].as_array().unwrap().iter();
        let of_mode = all.find(|m| m["mode"] == mode).unwrap();
        assert_eq!(of_mode["cycles"], cycles, "{mode}");
    }
    let recorded = &report["machines"][0]["recorded"]["cycles"];
    assert_eq!(*recorded, cycles(dir, &[]));
}

#[test]
fn the_best_mode_of_the_list_is_that_of_simulations_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--mutations=40", "--length=200", "--form=clflush"];
    let dir = recorded(folder.path(), "modes_cowlist", &args);
    same_by_hand(&dir, FILE, &[]);
}

#[test]
fn the_best_mode_of_a_store_is_that_of_simulations_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--keys=1K", "--ops=2000", "--spare-mb=1"];
    let dir = recorded(folder.path(), "kv", &args);
    same_by_hand(&dir, "memory_fresh", &["--persistent", "memory_fresh"]);
}

#[test]
fn a_program_is_rewritten_as_if_it_were_written_for_the_mode() {
    let folder = tempfile::tempdir().unwrap();
    let of = |form: &str, of: &[&str]| {
        let args = ["--elements=4000", "--kind=w", form];
        cycles(&recorded(folder.path(), "modes_array", &args), of)
    };
    let flushed = "--form=clflush";
    for (mode, form) in [
        ("WT", "--form=order"),
        ("UC", "--form=order"),
        ("WC", "--form=fence"),
    ] {
        let types = format!("{FILE}:{mode}");
        let rewritten = of(flushed, &[&types]) as f64;
        let written = of(form, &[&types]) as f64;
        assert!(
            (rewritten / written - 1.0).abs() < 0.05,
            "{mode}: {rewritten} {written}"
        );
        assert!(
            (of(flushed, &[]) as f64 / rewritten - 1.0).abs() > 0.05,
            "{mode} is something else"
        );
    }
}

#[test]
fn what_is_wrong_with_a_type_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--elements=1000", "--passes=1", "--form=clflush"];
    let dir = recorded(folder.path(), "modes_array", &args);
    let all = format!("{FILE}:WT");
    let cases: [(&str, &[&str], &str); 6] = [
        ("hp-e5620", &["nowhere:WT"], "mapped no file of this name"),
        ("hp-e5620", &[&all, "0x1000-0x7fffffffffff:UC"], "overlap"),
        ("hp-e5620", &["0x1000-0x2000:WT"], "never touches"),
        ("grace", &[&all], "no write-through memory, only"),
        ("hp-e5620", &["memfd:modes:WX"], "no mode 'WX'"),
        ("hp-e5620", &["memfd"], "RANGE:MODE"),
    ];
    for (machine, types, part) in cases {
        let types = types.iter().flat_map(|of| ["--type", of]);
        let command = ["simulate", text(&dir), "--machine", machine];
        let said = run(command.into_iter().chain(types)).exits(2).stderr;
        assert!(said.contains(part) && said.contains("--type"), "{said}");
    }
    let nothing = recorded(folder.path(), "rank", &["--keys=1K", "--max-key=1K"]);
    let command = ["whatif", "--types", text(&nothing), "--machine", "hp-e5620"];
    let said = run(command).exits(2).stderr;
    assert!(said.contains("name the memory with --persistent"), "{said}");
}

#[test]
fn the_comparison_reads_well() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--elements=1000", "--passes=1", "--form=clflush"];
    let dir = recorded(folder.path(), "modes_array", &args);
    let command = [
        "whatif",
        "--types",
        text(&dir),
        "--machine",
        "hp-e5620,grace",
    ];
    let said = run(command).exits(0).stdout;
    for part in [
        "On hp-e5620: as recorded,",
        "memfd:modes (",
        "best is",
        "the fastest",
        "if the caches were persistent",
        "note: not WT: grace has no write-through memory",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
