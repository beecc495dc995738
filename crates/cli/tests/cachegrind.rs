//! The caches agree with cachegrind's, an independent simulator of caches, on real programs.
//!
//! What differs, and why it stays small: cachegrind's LL also holds instructions; it runs the program
//! on another stack and heap, at other addresses, and hides AVX-512 from it, so that libc chooses
//! other copies; it takes a read-modify-write for a read alone, we see the store too.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{run, text, workload};
use prestore_machine::Machine;

const TOLERANCE: f64 = 0.02;

/// Data misses of the first level, and of the last.
type Misses = [u64; 2];

#[test]
fn listing1_misses_as_in_cachegrind() {
    agrees("listing1", &["--iters=20000", "--elements=16384"]);
}

#[test]
fn kv_misses_as_in_cachegrind() {
    agrees("kv", &["--ops=20000", "--keys=4096"]);
}

#[test]
fn stencil_misses_as_in_cachegrind() {
    agrees("stencil", &["--n=32", "--steps=3", "--threads=1"]);
}

#[test]
fn fft_misses_as_in_cachegrind() {
    agrees("fft", &["--rows=64"]);
}

#[test]
fn tensor_misses_as_in_cachegrind() {
    agrees("tensor", &["--large-bytes=1048576", "--small-count=2000"]);
}

#[track_caller]
fn agrees(name: &str, args: &[&str]) {
    let Some(program) = workload(name) else {
        return;
    };
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: valgrind is not installed");
        return;
    }
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/cachegrind.toml");
    let theirs = cachegrind(&machine, &program, args);
    let ours = simulated(&machine, &program, args);
    for (level, theirs, ours) in [("D1", theirs[0], ours[0]), ("LL", theirs[1], ours[1])] {
        let deviation = ours as f64 / theirs as f64 - 1.0;
        println!(
            "{name}: {level} {theirs} data misses in cachegrind, {ours} here ({:+.2} %)",
            100.0 * deviation
        );
        assert!(theirs > 5000, "{name} is too small to compare: {theirs}");
        assert!(
            deviation.abs() <= TOLERANCE,
            "{name}: {level} has {ours} data misses, cachegrind's {theirs}"
        );
    }
}

fn cachegrind(machine: &Path, program: &Path, args: &[&str]) -> Misses {
    let machine = Machine::find(text(machine)).unwrap();
    let geometry = |option: &str, level: usize| {
        let cache = &machine.caches[level];
        format!(
            "{option}={},{},{}",
            cache.size.0, cache.ways, machine.line.0
        )
    };
    let output = Command::new("timeout")
        .args(["-s", "KILL", "120", "valgrind", "--tool=cachegrind"])
        .args(["--cache-sim=yes", "--cachegrind-out-file=/dev/null"])
        .args([geometry("--D1", 0), geometry("--LL", 1)])
        .arg(program)
        .args(args)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    ["D1  misses:", "LLd misses:"].map(|label| {
        let line = printed.lines().find_map(|l| l.split_once(label));
        let (_, counts) = line.unwrap_or_else(|| panic!("no '{label}' in {printed}"));
        let total = counts.split_whitespace().next().unwrap();
        total.replace(',', "").parse().unwrap()
    })
}

fn simulated(machine: &Path, program: &Path, args: &[&str]) -> Misses {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    let mut record = vec!["record", "-o", text(&dir), "--", text(program)];
    record.extend(args);
    run(record).exits(0);
    let simulate = ["simulate", text(&dir), "--machine", text(machine)];
    let results = run(simulate.into_iter().chain(["--format", "json"])).exits(0);
    let results = results.json();
    let misses = |level: usize| {
        let count = |key: &str| results["levels"][level][key].as_u64().unwrap();
        count("load_misses") + count("own_misses")
    };
    [misses(0), misses(1)]
}
