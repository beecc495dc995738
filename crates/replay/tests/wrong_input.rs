//! Recordings that cannot be simulated say why.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::slot::{LOCK, PLAIN_SET, at_flag, process as threads_of, words};
use common::{Process, STORE, drain, exec, recording, stamp, write_as};
use prestore_replay::{Options, SourceError, TraceSource};
use prestore_sim::Source;
use prestore_trace::container::{ReadOptions, RecordingInfo, SCHEMA_VERSION, Scope, Trace};
use prestore_trace::{ProcessId, ThreadId};

fn process() -> Process {
    let words = (0..300_000).flat_map(|i| exec(64, &[i * i])).collect();
    Process::new(&[(64, 1, &[(STORE, 0)])], vec![words])
}

fn error(trace: &Trace, options: &Options) -> String {
    match TraceSource::open(trace, options) {
        Ok(_) => panic!("it was taken"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_torn_recording_is_refused_or_read_as_far_as_it_is_whole() {
    let (dir, _) = recording(&[process()]);
    let path = dir.path().join("thread-0.events");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let refused = Trace::open(dir.path()).unwrap_err().to_string();
    let trace = Trace::open_with(dir.path(), ReadOptions { lenient: true }).unwrap();
    for said in [refused, error(&trace, &Options::default())] {
        assert!(
            said.contains("thread-0.events") && said.contains("--lenient"),
            "{said}"
        );
    }
    let lenient = Options {
        lenient: true,
        ..Options::default()
    };
    let mut source = TraceSource::open(&trace, &lenient).unwrap();
    let ops = drain(&mut source).remove(0).0;
    assert!(!ops.is_empty() && ops.len() < 300_000);
    assert!(source.notes().iter().any(|n| n.contains("interrupted")));
}

#[test]
fn a_corrupt_part_is_an_error_or_missing_instructions() {
    let (dir, _) = recording(&[process()]);
    let path = dir.path().join("thread-0.events");
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 0xff; // in the first stored block of two
    fs::write(&path, &bytes).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut source = TraceSource::open(&trace, &Options::default()).unwrap();
    let failed = prestore_sim::Source::fill(&mut source, 0, &mut Vec::new());
    let said = failed.unwrap_err().to_string();
    assert!(said.contains("corrupt at byte"), "{said}");
    let trace = Trace::open_with(dir.path(), ReadOptions { lenient: true }).unwrap();
    let lenient = Options {
        lenient: true,
        independent_loads: true,
        ..Options::default()
    };
    let mut source = TraceSource::open(&trace, &lenient).unwrap();
    let (ops, instrs) = drain(&mut source).remove(0);
    assert!(!ops.is_empty() && ops.len() < 300_000);
    assert_eq!(instrs, 600_000, "the missing instructions elapsed");
    assert_eq!(source.notes().len(), 1);
}

#[test]
fn a_recording_of_counts_only_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let info = RecordingInfo {
        scope: Scope {
            mode: "count".into(),
            ..Scope::default()
        },
        ..RecordingInfo::default()
    };
    write_as(dir.path(), &[Process::new(&[], vec![vec![]])], info);
    let said = error(&Trace::open(dir.path()).unwrap(), &Options::default());
    assert!(said.contains("--scope all"), "{said}");
}

/// As older versions recorded: blocks without their instructions.
#[test]
fn without_instructions_it_is_not_known_what_waits_for_what() {
    let (_dir, trace) = recording(&[process()]);
    for independent_loads in [false, true] {
        let options = Options {
            independent_loads,
            ..Options::default()
        };
        let mut source = TraceSource::open(&trace, &options).unwrap();
        source.fill(0, &mut Vec::new()).unwrap();
        let said = source.notes().join("; ");
        let says = said.contains("loads do not wait") && said.contains("record again");
        assert_ne!(says, independent_loads, "{said}");
    }
}

#[test]
fn samples_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = format!(
        r#"{{"format":"prestore-trace","schema_version":{SCHEMA_VERSION},"kind":"samples"}}"#
    );
    fs::write(dir.path().join("manifest.json"), manifest).unwrap();
    let error = SourceError::from(Trace::open(dir.path()).unwrap_err()).to_string();
    assert!(error.contains("holds samples, not events"), "{error}");
}

#[test]
fn threads_that_are_not_there_are_an_error() {
    let (_dir, trace) = recording(&[process()]);
    for options in [
        Options {
            threads: Some(vec![ThreadId(7)]),
            ..Options::default()
        },
        Options {
            processes: Some(vec![ProcessId(7)]),
            ..Options::default()
        },
    ] {
        let said = error(&trace, &options);
        assert!(said.contains("none of the threads"), "{said}");
    }
}

/// As the first versions of the recorder made them: what waits for what cannot be told, and that is said.
#[test]
fn atomics_of_several_threads_without_stamps_are_told() {
    let section = |stamps: bool| {
        let stamp = if stamps { stamp(100) } else { Vec::new() };
        words(10, &[stamp, at_flag(LOCK), at_flag(PLAIN_SET)])
    };
    let notes = |threads: Vec<Vec<u64>>| {
        let (_dir, trace) = recording(&[threads_of(threads)]);
        let source = TraceSource::open(&trace, &Options::default()).unwrap();
        source.notes().join(" ")
    };
    let said = notes(vec![section(false), section(false)]);
    assert!(
        said.contains("no time stamps") && said.contains("record the program anew"),
        "{said}"
    );
    assert_eq!(notes(vec![section(true), section(true)]), "");
    assert_eq!(
        notes(vec![section(false)]),
        "",
        "one thread waits for nobody"
    );
}
