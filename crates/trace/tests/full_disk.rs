//! A recording on a disk that fills up: a clear error, and a trace readable up to there.
//!
//! The recording runs in a child of the test (this test binary again), under a file size limit or
//! on a file system of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, too

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{block_frame, process_frame};
use prestore_trace::block::BlockTable;
use prestore_trace::container::{
    Decoder, Existing, Outcome, RecordingInfo, Trace, TraceWriter, WriteError,
};
use prestore_trace::record::header;
use prestore_trace::{SiteTable, ThreadId};

const DIR: &str = "PRESTORE_TEST_FULL_DISK_DIR";
const LIMIT: &str = "PRESTORE_TEST_FULL_DISK_LIMIT";

/// Values without order, so that they take space.
fn words(round: u64) -> Vec<u64> {
    let one = |i: u64| {
        [
            header(64, 0),
            (round * 500 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ]
    };
    (0..500).flat_map(one).collect()
}

/// Not a test by itself: what the child does.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else {
        return;
    };
    if std::env::var_os(LIMIT).is_some() {
        limit_file_size(64 << 10);
    }
    let dir = Path::new(&dir);
    let mut writer = TraceWriter::create(dir, RecordingInfo::default(), Existing::Keep).unwrap();
    let process = writer.process(1, 0, vec![]).unwrap();
    let mut log = process_frame(1, 0, 0);
    log.extend(block_frame(64, 1, 0x1000, &[(1, 0)]));
    writer.meta(process, &log).unwrap();
    let mut table = BlockTable::default();
    table.feed(&log, &mut SiteTable::default()).unwrap();
    let mut stream = writer.thread(process, 1, None).unwrap();
    writer.flush().unwrap();
    let (error, rounds) = (0..)
        .find_map(|round| {
            let written = stream.words(&words(round), &table);
            stream.flush();
            let flushed = written.and_then(|()| stream.sync());
            flushed.err().map(|e| (e, round))
        })
        .unwrap();
    assert!(matches!(error, WriteError::Full { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("no space left while writing"), "{message}");
    assert!(message.contains("thread-0.events"), "{message}");
    let again = stream.words(&words(0), &table).unwrap_err();
    assert!(matches!(again, WriteError::Failed { .. }), "{again}");
    // The manifest may or may not find room; the trace is readable either way.
    let aborted = writer.finish(Outcome::Aborted(message));
    let trace = Trace::open(dir).unwrap();
    if aborted.is_ok() {
        assert!(trace.info().reason.is_some());
    }
    let mut reader = trace.stream(ThreadId(0), 0).unwrap();
    let mut decoder = Decoder::new().unwrap();
    assert!(rounds > 2, "some blocks fit");
    for round in 0..rounds {
        let segment = reader.next_segment(&mut decoder).unwrap().unwrap();
        assert_eq!(segment.words, words(round));
    }
    assert_eq!(reader.next_segment(&mut decoder).unwrap(), None);
    println!("the child came to its end");
}

fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: the limit is a valid struct, and the process is a child that runs this test alone.
    let set = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit)
    };
    assert_eq!(set, 0);
}

fn check(output: &Output) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("the child came to its end"), "{out}{err}");
}

#[test]
fn a_file_size_limit() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child", "--nocapture"]);
    child.env(DIR, dir.path()).env(LIMIT, "1");
    check(&child.output().unwrap());
}

#[test]
fn a_full_file_system() {
    let dir = tempfile::tempdir().unwrap();
    let unshare = |script: &str| {
        let mut c = Command::new("unshare");
        c.args(["-rm", "sh", "-c", script]).env(DIR, dir.path());
        c.env("EXE", std::env::current_exe().unwrap());
        c.output()
    };
    let mount = "mount -t tmpfs -o size=128k prestore-test \"$PRESTORE_TEST_FULL_DISK_DIR\"";
    if !unshare(mount).is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: this system lets nobody mount a small file system for the test");
        return;
    }
    let run = format!("{mount} && exec \"$EXE\" --exact child --nocapture");
    check(&unshare(&run).unwrap());
}
