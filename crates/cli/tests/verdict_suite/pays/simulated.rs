//! The suite's programs recorded and simulated.

use std::collections::BTreeMap;
use std::path::Path;

use super::page::Known;
use super::{Place, Row, keep};
use crate::cases::{CASES, Case};
use crate::common::{self, findings, level};
use crate::is_in;

/// Where each operation can gain: writing to larger units (P0, problem 1), and what a fence waits for (problem 2).
const MACHINES: [(&str, &str); 2] = [
    ("machine-a", "clean,skip"),
    ("machine-b-slow", "clean,demote"),
];

/// A recording of the case at `-O2`, with one thread where it can choose; `None` where it cannot be built.
fn recording(case: &Case, folder: &Path) -> Option<std::path::PathBuf> {
    let program = level("O2", case.program)?;
    let recording = folder.join("trace");
    let mut command = vec!["record", "--quiet", "--force", "-o"];
    command.extend([common::text(&recording), "--", common::text(&program)]);
    command.extend(case.args);
    let threads = case.threads.first().map(|n| format!("--threads={n}"));
    command.extend(threads.as_deref());
    common::run(command).exits(0);
    Some(recording)
}

/// The best gain of each operation at each of these findings.
fn gains(
    recording: &Path,
    machine: &str,
    ops: &str,
    numbers: &[u64],
) -> BTreeMap<u64, BTreeMap<String, f64>> {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let mut command = vec!["whatif", common::text(recording), "--machine", machine];
    command.extend(["--op", ops, "--simulations", "1"]);
    command.extend(["--quiet", "--format", "json"]);
    command.extend(numbers.iter().flat_map(|n| ["--finding", n.as_str()]));
    let predicted = common::run(command).exits(0).json();
    let mut best: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
    for effect in predicted["machines"][0]["findings"].as_array().unwrap() {
        let number = effect["finding"].as_u64().unwrap();
        let op = effect["op"].as_str().unwrap().to_owned();
        let gain = effect["speedup"].as_f64().unwrap();
        // What repeats to the last digit is not what the page is about.
        let gain = (gain * 1000.0).round() / 1000.0;
        let known = best.entry(number).or_default().entry(op).or_insert(gain);
        *known = known.max(gain);
    }
    best
}

fn rows(case: &'static Case) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let Some(recording) = recording(case, folder.path()) else {
        return Vec::new();
    };
    let report = common::run([
        "advise",
        common::text(&recording),
        "--quiet",
        "--format",
        "json",
    ])
    .exits(0)
    .json();
    let placed = |(function, _): &(&'static str, &[&str])| {
        let finding = findings(&report).iter().find(|f| is_in(f, function))?;
        let verdict = finding["verdict"].as_str()?.to_owned();
        Some((finding["number"].as_u64()?, *function, verdict))
    };
    let places: Vec<_> = case.places.iter().filter_map(placed).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let numbers: Vec<u64> = places.iter().map(|p| p.0).collect();
    let by_machine = MACHINES.map(|(machine, ops)| {
        let gains = gains(&recording, machine, ops, &numbers);
        (machine, gains)
    });
    let row = |(number, function, verdict): (u64, &str, String)| Row {
        place: Place::of(case, function),
        verdict,
        gains: (by_machine.iter())
            .map(|(machine, gains)| ((*machine).to_owned(), gains[&number].clone()))
            .collect(),
    };
    places.into_iter().map(row).collect()
}

/// A quarter of an hour on one processor.
#[test]
#[ignore = "long: make verdicts"]
fn following_the_advice_pays() {
    let rows: Vec<Row> = (CASES.iter().flat_map(rows))
        .inspect(|row| println!("{:.3} {row:?}", row.worst()))
        .collect();
    keep("simulated.json", &rows);
    let wrong = Known::read().wrong(&rows);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
