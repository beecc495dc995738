//! `--sample`: what it estimates is what the whole run tells, as surely as it says.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{recorded, run, text};
use prestore_machine::{Machine, Machines};
use prestore_replay::{HandOffs, Options, Replay, Sample};
use prestore_sim::{NoMechanism, Results, Simulation};
use prestore_trace::container::Trace;
use prestore_whatif::at_once;

/// Small, so that short recordings have many units.
const SMALL: Sample = Sample {
    units: 30,
    length: 2000,
    detail: 2000,
    warm: Some(Some(5_000)),
    seed: 1,
};

fn machine(settings: &[&str]) -> Machine {
    let machines = Machines::shipped();
    machines.describe("tiny", settings).unwrap().into_machine()
}

/// How many of `seeds` intervals hold the time of the whole run, and by how much the mean is off, in percent.
fn held(dir: &Path, machine: &Machine, sample: Sample, seeds: u64) -> (usize, f64) {
    let trace = Trace::open(dir).unwrap();
    let hand_offs = Arc::new(HandOffs::infer(&trace, &Options::default()).unwrap());
    let replay = || Replay::new(&trace, Simulation::new(machine)).hand_offs(Arc::clone(&hand_offs));
    let truth = replay().run(&mut NoMechanism).unwrap().cycles as f64;
    let seeds: Vec<u64> = (1..=seeds).collect();
    let simulate = |&seed: &u64| {
        let sample = Sample { seed, ..sample };
        let results: Results = replay().sampled(&sample, &mut [NoMechanism; 2]).unwrap();
        results.sampled.unwrap().cycles
    };
    let estimates = at_once(&seeds, simulate, &|_| ());
    let mean = estimates.iter().map(|e| e.value).sum::<f64>() / seeds.len() as f64;
    let held = estimates
        .iter()
        .filter(|e| (e.least..=e.most).contains(&truth));
    (held.count(), 100.0 * (mean / truth - 1.0))
}

/// Of one recording, 92 of 100 may hold by chance where 97 do of many, and recordings differ with the machine that makes them:
/// three unlike programs make up for one another.
#[test]
fn ninety_three_of_a_hundred_intervals_hold_the_truth() {
    const SEEDS: u64 = 80;
    let programs: [(&str, &[&str]); 3] = [
        ("stencil", &["--n=16", "--steps=12"]),
        ("kv", &["--ops=5K", "--keys=2048"]),
        ("rank", &["--keys=100K", "--max-key=20K"]),
    ];
    let mut told = Vec::new();
    let mut all = 0;
    for (name, args) in programs {
        let folder = tempfile::tempdir().unwrap();
        let dir = recorded(folder.path(), name, args);
        let (held, off) = held(&dir, &machine(&[]), SMALL, SEEDS);
        told.push(format!(
            "{name}: {held} of {SEEDS}, {off:+.2} % off in the mean"
        ));
        all += held;
    }
    println!("{told:#?}");
    let intervals = SEEDS as usize * programs.len();
    assert!(
        100 * all >= 93 * intervals,
        "{all} of {intervals}: {told:#?}"
    );
}

/// Two threads that meet behind each step. Stretches without accesses, which few units meet, are not made up for as those of
/// one thread are: the time is near, and a note says that the interval may be too narrow.
#[test]
fn threads_are_estimated_and_the_interval_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--n=16", "--steps=12", "--threads=2"];
    let dir = recorded(folder.path(), "stencil", &options);
    let two = machine(&["core.count=2"]);
    let (_, off) = held(&dir, &two, SMALL, 30);
    assert!(off.abs() < 15.0, "{off:+.2} % off in the mean");
    let simulate = [
        "simulate",
        text(&dir),
        "--machine=tiny",
        "--set=core.count=2",
    ];
    let units = ["--sample", "--sample-units=20", "--sample-length=2000"];
    let other = ["--sample-detail=1000", "--sample-warm=20K", "--format=json"];
    let options = simulate.iter().chain(&units).chain(&other);
    let json = run(options).exits(0).json();
    let notes = json["notes"].to_string();
    assert!(notes.contains("interval may be too narrow"), "{notes}");
}

/// On one processor, where they take turns: within a stored block time is taken as even, by which one is far ahead of what it
/// waits for. Each of a unit's waits was over then, and a message took half its time.
#[test]
fn threads_that_take_turns_still_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("recording");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.split("Cpus_allowed_list:").nth(1).unwrap().trim();
    let first: String = allowed.chars().take_while(char::is_ascii_digit).collect();
    let Some(ring) = common::workload("ring") else {
        panic!("the workloads are built")
    };
    let program = [text(&ring), "--slots=64", "--messages=60000"];
    let record = ["record", "-o", text(&dir), "--", "taskset", "-c", &first];
    run(record.iter().chain(&program)).exits(0);
    let machine = Machine::find("machine-a").unwrap();
    let (_, off) = held(&dir, &machine, Sample::default(), 4);
    assert!(off.abs() < 5.0, "{off:+.2} % off in the mean");
}

/// One fills the table while the other one has not begun: what that one reads ahead as it waits is not what it has done.
#[test]
fn who_waits_to_begin_has_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--threads=2", "--ops=6K", "--keys=8192"];
    let dir = recorded(folder.path(), "kv", &options);
    let (_, off) = held(&dir, &machine(&["core.count=2"]), SMALL, 10);
    assert!(off.abs() < 14.0, "{off:+.2} % off in the mean");
}

/// Fills a grid once, which takes a tenth of its time, and then works within the caches: units that are all alike were sure of an
/// estimate that was 10 % too low, to ± 0.01 %, or had met the start by chance.
#[test]
fn what_a_program_does_at_its_start_only_is_met() {
    const SOURCE: &str = "
        #include <stdlib.h>
        enum { CELLS = 1 << 17, SWEEPS = 120 };
        int main(void) {
            double *grid = malloc(CELLS * sizeof *grid), sum = 0;
            if (!grid) return 1;
            for (long i = 0; i < CELLS; i++) grid[i] = (double)(i % 7);
            for (int sweep = 0; sweep < SWEEPS; sweep++)
                for (long i = 1; i < CELLS; i++) sum += grid[i] * grid[i - 1];
            return sum < 0;
        }";
    let folder = tempfile::tempdir().unwrap();
    let program = common::c_program(folder.path(), "fill", SOURCE, &[]);
    let dir = folder.path().join("recording");
    run(["record", "-q", "-o", text(&dir), "--", text(&program)]).exits(0);
    let machine = Machine::find("fast20-6dimm").unwrap();
    let (held, off) = held(&dir, &machine, Sample::default(), 8);
    assert!(off.abs() < 5.0, "{off:+.2} % off in the mean");
    assert!(held >= 7, "{held} of 8 intervals hold");
}

/// Nearly all of its time is evictions. Warming kept all miss slots, so that prefetchers brought too few lines, which nobody writes.
#[test]
fn warming_leaves_the_lines_of_prefetchers() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing1", &["--threads=1"]);
    let machine = Machine::find("machine-a").unwrap();
    let (_, off) = held(&dir, &machine, Sample::default(), 2);
    assert!(off.abs() < 5.0, "{off:+.2} % off in the mean");
}

/// The longer version, on the machine and with the lengths that are the default.
#[test]
#[ignore = "minutes: part of make soak"]
fn soak_ninety_three_of_a_hundred_on_a_real_machine() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "stencil", &["--steps=40"]);
    let machine = Machine::find("machine-a").unwrap();
    let sample = Sample::default();
    let (held, off) = held(&dir, &machine, sample, 100);
    println!("{held} of 100 intervals hold the truth, {off:+.2} % off in the mean");
    assert!(held >= 93, "{held} of 100, {off:+.2} % off in the mean");
}
