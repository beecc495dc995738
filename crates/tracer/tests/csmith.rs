//! Random C programs (Debian's csmith) end as they do natively, at every level of optimisation, for
//! the processor at hand.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{found, native, recorder, scratch, soak_number, str};

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
const OPTIONS: [&[&str]; 5] = [
    &[],
    &["values"],
    &["count"],
    &["allocations", "skip=500", "take=2000", "period=5000"],
    &["allocations"],
];

/// Is all there that makes the programs? Says so where it is not.
fn able(compiler: &str) -> bool {
    let headers = Path::new("/usr/include/csmith/csmith.h").exists();
    if !headers {
        eprintln!("SKIPPED: csmith's headers (libcsmith-dev) are not installed");
    }
    headers && found("csmith") && found(compiler)
}

/// The program of `seed`; `None` where the compiler says no.
fn program(compiler: &str, level: &str, seed: u64, dir: &Path) -> Option<PathBuf> {
    let (source, out) = (dir.join("random.c"), dir.join("random"));
    // csmith writes a file about the platform to where it is run.
    let made = Command::new("csmith")
        .current_dir(dir)
        .args(["--seed", &seed.to_string(), "--output", str(&source)])
        .output()
        .unwrap();
    assert!(made.status.success(), "csmith: {made:?}");
    let made = Command::new(compiler)
        .args([level, "-march=native", "-w", "-I/usr/include/csmith", "-o"])
        .args([&out, &source])
        .output()
        .unwrap();
    made.status.success().then_some(out)
}

/// What differs of the program of `seed`; `None`: nothing. `Err` says why it was left out.
fn difference(compiler: &str, seed: u64) -> Result<Option<String>, &'static str> {
    let dir = scratch();
    // Every pairing of level and options comes up.
    let level = LEVELS[(seed / 2) as usize % LEVELS.len()];
    let options = OPTIONS[(seed / 8) as usize % OPTIONS.len()];
    let program = program(compiler, level, seed, dir.path()).ok_or("does not compile")?;
    let plain = native(&["timeout", "1", str(&program)]);
    if plain.status.code() == Some(124) {
        return Err("takes more than a second");
    }
    let (said, facts) = recorder(options, &[&program]).run();
    let same = said.stdout == plain.stdout
        && said.stderr == plain.stderr
        && facts.error.is_none()
        && facts.failure.is_none()
        // `timeout` makes a signal's death its own exit code.
        && (plain.status.code() >= Some(128) || facts.status == plain.status.to_string());
    Ok((!same).then(|| {
        format!(
            "csmith --seed {seed}, {compiler} {level} -march=native, recorded with {options:?}:\n\
             native: {plain:?}\nrecorded: {said:?}\n{} {:?} {:?}\n",
            facts.status, facts.error, facts.failure
        )
    }))
}

/// Programs of `seeds`; every other number, so that two compilers share the work.
fn programs(compiler: &str, seeds: impl Iterator<Item = u64>) {
    if !able(compiler) {
        return;
    }
    let (mut ran, mut left_out, mut differ) = (0, 0, String::new());
    for seed in seeds {
        match difference(compiler, seed) {
            Ok(None) => ran += 1,
            Ok(Some(how)) => {
                eprintln!("{how}");
                differ.push_str(&how);
            }
            Err(_) => left_out += 1,
        }
    }
    eprintln!(
        "{compiler}: {ran} programs the same, {left_out} left out as too slow or not compiled"
    );
    assert!(differ.is_empty(), "{differ}");
    assert!(ran > left_out, "{left_out} left out of {}", ran + left_out);
}

#[test]
fn of_gcc() {
    programs("gcc", (1..=200).step_by(2));
}

#[test]
fn of_clang() {
    programs("clang", (2..=200).step_by(2));
}

fn soak(compiler: &str, first: u64) {
    let programs_given = soak_number("PRESTORE_SOAK_PROGRAMS", 5000);
    let seed = soak_number("PRESTORE_SOAK_SEED", 1000);
    programs(compiler, (seed + first..=seed + programs_given).step_by(2));
}

/// `make soak`: 5,000 programs of the two compilers, or `PRESTORE_SOAK_PROGRAMS`; from `PRESTORE_SOAK_SEED`, or 1000.
#[test]
#[ignore = "takes hours"]
fn soak_of_gcc() {
    soak("gcc", 1);
}

/// The other half of them.
#[test]
#[ignore = "takes hours"]
fn soak_of_clang() {
    soak("clang", 2);
}
