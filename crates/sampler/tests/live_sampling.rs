//! The whole path on a live kernel: hold, open, release, read, aggregate.
//!
//! Hosts without the privilege to sample skip these, and say so.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail the test

use std::io::Write;
use std::process::Command;

use prestore_sampler::{EventChoice, HostFacts, Options, SampleError, Samples, probe, sample};

fn clock() -> Options {
    Options {
        event: EventChoice::Clock,
        ..Options::default()
    }
}

/// Says so past the test harness, which hides what a passing test prints.
fn skipped(why: &str) {
    let line = format!("SKIPPED: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Samples the command by the software clock; `None` (with a message) where that is forbidden.
fn sample_clock(command: Command, options: &Options) -> Option<Samples> {
    match sample(command, options) {
        Ok(samples) => Some(samples),
        Err(SampleError::Unavailable(why)) => {
            skipped(&format!("{why}; to run it: {:?}", why.fix));
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

const SPIN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

#[test]
fn a_spinning_program_is_sampled_with_chains_in_known_modules() {
    let Some(samples) = sample_clock(shell(SPIN), &clock()) else {
        return;
    };
    assert!(samples.status.success());
    assert!(
        samples.events.len() > 10,
        "{} samples",
        samples.events.len()
    );
    assert!(samples.events.iter().all(|s| !s.is_store() && s.period > 0));
    assert!(
        samples
            .events
            .windows(2)
            .all(|two| two[0].time <= two[1].time)
    );
    assert!(
        samples
            .events
            .iter()
            .any(|s| !samples.chain(s.chain).is_empty())
    );
    let located = samples
        .events
        .iter()
        .filter(|s| samples.spaces.locate(s.pid, s.time, s.ip).module.is_some())
        .count();
    assert!(
        located * 10 > samples.events.len() * 9,
        "most samples hit mapped files"
    );
    assert!(samples.overhead.share > 0.0);
}

#[test]
fn children_are_sampled_too() {
    let Some(samples) = sample_clock(shell(&format!("({SPIN}) & ({SPIN}) & wait")), &clock())
    else {
        return;
    };
    let processes: std::collections::HashSet<u32> = samples.events.iter().map(|s| s.pid).collect();
    assert!(processes.len() >= 2, "processes seen: {processes:?}");
}

#[test]
fn a_small_ring_is_drained_while_the_program_runs() {
    let options = Options {
        ring_pages: 1,
        ..clock()
    };
    let Some(samples) = sample_clock(shell(SPIN), &options) else {
        return;
    };
    assert!(samples.status.success());
    assert!(!samples.events.is_empty());
}

#[test]
fn the_programs_end_is_reported() {
    let Some(samples) = sample_clock(shell("exit 7"), &clock()) else {
        return;
    };
    assert_eq!(samples.status.code(), Some(7));
}

#[test]
fn a_missing_program_is_an_error_of_starting() {
    match sample(Command::new("/no/such/program"), &clock()) {
        Err(SampleError::Start(error)) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        }
        Err(SampleError::Unavailable(why)) => skipped(&why.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_stores_cannot_be_sampled_the_program_is_not_started_and_the_cause_is_given() {
    let counters = probe(&HostFacts::read(std::path::Path::new("/")));
    let Err(expected) = counters.stores else {
        skipped("this host can sample stores");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("ran");
    let mut command = Command::new("touch");
    command.arg(&mark);
    match sample(command, &Options::default()) {
        Err(SampleError::Unavailable(why)) => {
            assert_eq!(why, expected);
            assert!(!why.detail.is_empty());
        }
        other => panic!("{other:?}"),
    }
    assert!(!mark.exists());
}

#[test]
fn where_stores_can_be_sampled_a_program_gives_stores() {
    let counters = probe(&HostFacts::read(std::path::Path::new("/")));
    if let Err(why) = counters.stores {
        skipped(&why.to_string());
        return;
    }
    let samples = sample(shell(SPIN), &Options::default()).unwrap();
    assert!(samples.precise);
    assert!(
        samples
            .events
            .iter()
            .any(prestore_sampler::Sample::is_store)
    );
    assert!(!samples.by_instruction().is_empty());
}
