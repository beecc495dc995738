//! Recordings that end before the program does, because that was asked for.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{kv, run};

/// Seconds of work, of which a part is asked for.
const LONG: &str = "--ops=3M";

fn size_of(dir: &std::path::Path) -> u64 {
    let files = fs::read_dir(dir).unwrap();
    files.map(|f| f.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn after_a_time_the_program_runs_on() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, part) = (dir.path().join("whole"), dir.path().join("part"));
    let kv = kv();
    let kv = kv.to_str().unwrap();
    let of = |dir: &std::path::Path| dir.to_str().unwrap().to_owned();
    run(["record", "-o", &of(&whole), "--", kv, LONG]).exits(0);
    let ran = run([
        "record",
        "--stop-after",
        "1s",
        "-o",
        &of(&part),
        "--",
        kv,
        LONG,
    ]);
    let ran = ran.exits(0).says(&["ended after 1s", "--stop-after"]);
    assert!(
        ran.stdout.contains("ops"),
        "it ran to its end: {}",
        ran.stdout
    );
    assert!(size_of(&part) < size_of(&whole));
    let advice = run(["advise", &of(&part)]).exits(0).stdout;
    assert!(advice.contains("ended after 1s"), "{advice}");
}

#[test]
fn at_a_size_the_program_runs_on() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let kv = kv();
    let kv = kv.to_str().unwrap();
    let of = part.to_str().unwrap();
    let ran = run(["record", "--max-size", "200KB", "-o", of, "--", kv, LONG]);
    let ran = ran.exits(0).says(&["at the size", "--max-size"]);
    assert!(
        ran.stdout.contains("ops"),
        "it ran to its end: {}",
        ran.stdout
    );
    let size = size_of(&part);
    // What had not been encoded was guessed, and what the threads had handed over by then is kept as well.
    assert!((150_000..1_000_000).contains(&size), "{size}");
    run(["simulate", of, "--machine", "tiny"]).exits(0);
}

#[test]
fn what_makes_no_sense_is_said() {
    let kv = kv();
    let kv = kv.to_str().unwrap();
    let with = |options: &[&str]| {
        let mut words = vec!["advise"];
        words.extend(options);
        words.extend(["--", kv, "--ops=20K"]);
        run(words)
    };
    with(&["--stop-after", "soon"])
        .exits(2)
        .says(&["--stop-after", "soon"]);
    with(&["--stop-after", "1s", "--scope", "count"])
        .exits(2)
        .says(&["--stop-after", "--scope all"]);
    run(["record", "--max-size", "lots", "-o", "x", "--", kv])
        .exits(2)
        .says(&["--max-size", "lots"]);
    run(["repro", "p0-fig3"])
        .exits(2)
        .says(&["did you mean 'p0-fig-3'?"]);
}
