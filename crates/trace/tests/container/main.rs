//! Writing and reading a trace directory.
#![allow(clippy::unwrap_used)] // helpers of tests, too

mod beside;
#[path = "../common/mod.rs"]
mod common;
mod cut;
mod damage;

use std::fs;
use std::path::Path;

use common::{block_frame, module_frame, process_frame, time};
use prestore_trace::block::BlockTable;
use prestore_trace::container::{
    Decoder, Existing, Outcome, RecordingInfo, RecordingState, StreamWriter, Trace, TraceWriter,
    WriteError,
};
use prestore_trace::record::header;
use prestore_trace::{ProcessId, SiteTable, ThreadId};

fn info() -> RecordingInfo {
    RecordingInfo {
        command: vec!["./program".into(), "--size".into()],
        line_size: 64,
        ..RecordingInfo::default()
    }
}

/// Two blocks (64: one value, a store; 65: two values, two loads) in one module.
fn log(pid: u32) -> Vec<u8> {
    let mut log = process_frame(pid, 1, 0);
    log.extend(module_frame(0x1000, 0x9000, "/bin/program", &[0xab, 0xcd]));
    log.extend(block_frame(64, 1, 0x1100, &[(1, 0)]));
    log.extend(block_frame(65, 2, 0x1200, &[(0, 0), (0, 1)]));
    log
}

fn table_of(log: &[u8]) -> BlockTable {
    let mut table = BlockTable::default();
    table.feed(log, &mut SiteTable::default()).unwrap();
    table
}

fn create(dir: &Path) -> TraceWriter {
    TraceWriter::create(dir, info(), Existing::Keep).unwrap()
}

/// A writer with a process and a thread in it.
fn begin(dir: &Path) -> (TraceWriter, StreamWriter, BlockTable) {
    let mut writer = create(dir);
    let process = writer.process(100, 1, vec!["./program".into()]).unwrap();
    writer.meta(process, &log(100)).unwrap();
    let stream = writer.thread(process, 101, Some(5)).unwrap();
    (writer, stream, table_of(&log(100)))
}

/// Words of `n` executions that are not all alike.
fn words(n: u64, seed: u64) -> Vec<u64> {
    let one = |i: u64| {
        [
            header(64, 0),
            0x5000 + i * 8,
            header(65, 0),
            i * i * seed,
            i,
        ]
    };
    (0..n).flat_map(one).collect()
}

/// All words of a thread as read.
fn read(trace: &Trace, thread: u32) -> Vec<u64> {
    let mut decoder = Decoder::new().unwrap();
    let mut stream = trace.stream(ThreadId(thread), 0).unwrap();
    let mut all = Vec::new();
    while let Some(segment) = stream.next_segment(&mut decoder).unwrap() {
        all.extend_from_slice(segment.words);
    }
    all
}

#[test]
fn what_was_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, mut stream, table) = begin(dir.path());
    let mut all = time(10);
    all.extend(words(300_000, 3));
    for part in [&all[..2 + 5 * 1000], &all[2 + 5 * 1000..]] {
        stream.words(part, &table).unwrap();
    }
    stream.finish().unwrap();
    writer.thread_ended(ThreadId(0), 99);
    let written = writer.finish(Outcome::Complete).unwrap();

    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(read(&trace, 0), all);
    assert!(trace.damage().is_empty());
    let manifest = trace.manifest();
    assert_eq!(*manifest, written);
    assert_eq!(manifest.state, RecordingState::Complete);
    assert_eq!(manifest.info.command, ["./program", "--size"]);
    assert_eq!(manifest.dropped_events, 0);
    assert_eq!(manifest.totals.instructions, 300_000 * 5);
    assert_eq!(manifest.totals.events.accesses(), 300_000 * 3);
    let thread = &manifest.threads[0];
    assert_eq!(
        (thread.tid, thread.start_ticks, thread.end_ticks),
        (101, Some(5), Some(99))
    );
    assert_eq!(manifest.modules[0].path, "/bin/program");
    assert_eq!(manifest.modules[0].build_id, "abcd");
    let info = trace.info();
    assert_eq!(info.accesses, 900_000);
    assert_eq!(info.threads, 1);
    assert_eq!(info.modules.len(), 1);
    assert!(
        info.stored_blocks > 1,
        "so many words make more than one stored block"
    );
}

#[test]
fn reading_may_start_at_any_stored_block() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, mut stream, table) = begin(dir.path());
    stream.words(&words(10, 3), &table).unwrap();
    stream.flush();
    let second = words(20, 4);
    stream.words(&second, &table).unwrap();
    stream.finish().unwrap();
    writer.finish(Outcome::Complete).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut reader = trace.stream(ThreadId(0), 1).unwrap();
    let mut decoder = Decoder::new().unwrap();
    let segment = reader.next_segment(&mut decoder).unwrap().unwrap();
    assert_eq!(segment.words, second);
    assert_eq!(
        segment.instrs,
        Some(50),
        "ten times two and three instructions"
    );
    assert_eq!(reader.next_segment(&mut decoder).unwrap(), None);
}

#[test]
fn threads_are_merged_in_order_of_their_time_records() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, mut a, table) = begin(dir.path());
    let mut b = writer.thread(ProcessId(0), 102, None).unwrap();
    let buffer = |ticks: u64| [time(ticks), words(2, ticks)].concat();
    // Thread 0 at 10, 30, 50, of which the last is in a later stored block; thread 1 at 20, 40.
    a.words(&[buffer(10), buffer(30)].concat(), &table).unwrap();
    a.flush();
    a.words(&words(1, 7), &table).unwrap();
    a.words(&buffer(50), &table).unwrap();
    b.words(&[buffer(20), buffer(40)].concat(), &table).unwrap();
    a.finish().unwrap();
    b.finish().unwrap();
    writer.finish(Outcome::Complete).unwrap();

    let trace = Trace::open(dir.path()).unwrap();
    let mut merged = trace.merged().unwrap();
    let mut seen = Vec::new();
    while let Some(s) = merged.next_segment().unwrap() {
        seen.push((s.ticks, s.thread.0, s.words.to_vec()));
    }
    let expected = vec![
        (10, 0, buffer(10)),
        (20, 1, buffer(20)),
        (30, 0, buffer(30)),
        (30, 0, words(1, 7)),
        (40, 1, buffer(40)),
        (50, 0, buffer(50)),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn streams_are_written_in_parallel() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, first, table) = begin(dir.path());
    let more = (0..7).map(|i| writer.thread(ProcessId(0), 200 + i, None).unwrap());
    let streams: Vec<_> = std::iter::once(first).chain(more).collect();
    std::thread::scope(|scope| {
        for mut stream in streams {
            let table = &table;
            scope.spawn(move || {
                let seed = u64::from(stream.thread().0) + 1;
                stream.words(&words(1000, seed), table).unwrap();
                stream.finish().unwrap();
            });
        }
    });
    writer.finish(Outcome::Complete).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    for thread in 0..8 {
        assert_eq!(read(&trace, thread), words(1000, u64::from(thread) + 1));
    }
}

#[test]
fn sites_are_the_same_each_time_and_a_fork_shares_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, stream, _) = begin(dir.path());
    stream.finish().unwrap();
    let child = writer.process(200, 100, vec![]).unwrap();
    let mut forked = process_frame(200, 100, 66);
    forked.extend(module_frame(0x1000, 0x9000, "/bin/program", &[0xab, 0xcd]));
    forked.extend(block_frame(66, 1, 0x1300, &[(1, 0)]));
    writer.meta(child, &forked).unwrap();
    writer.finish(Outcome::Complete).unwrap();

    let (a, b) = (
        Trace::open(dir.path()).unwrap(),
        Trace::open(dir.path()).unwrap(),
    );
    let child = a.table(ProcessId(1)).unwrap();
    let ids: Vec<u32> = child.iter().map(|b| b.id).collect();
    assert_eq!(ids, [64, 65, 66]);
    let site = child.get(66).unwrap().start_site;
    let found = a.sites().get(site).unwrap();
    assert_eq!(found.offset, 0x300, "in the module that it began with");
    assert_eq!(
        child.get(64).unwrap().start_site,
        a.table(ProcessId(0)).unwrap().get(64).unwrap().start_site
    );
    assert_eq!(
        b.table(ProcessId(1)).unwrap().get(66).unwrap().start_site,
        site
    );
    assert_eq!(a.sites().len(), b.sites().len());
}

/// A recording killed while its second stored block was being written: `cut` bytes of it are there.
fn killed(dir: &Path, cut: Option<usize>) -> (usize, usize) {
    let (mut writer, mut stream, table) = begin(dir);
    stream.words(&words(30, 3), &table).unwrap();
    stream.flush();
    writer.flush().unwrap();
    let path = dir.join("thread-0.events");
    let first = fs::read(&path).unwrap().len();
    stream.words(&words(30, 5), &table).unwrap();
    stream.flush();
    let whole = fs::read(&path).unwrap().len();
    std::mem::forget((writer, stream));
    if let Some(cut) = cut {
        fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len((first + cut) as u64)
            .unwrap();
    }
    (first, whole)
}

#[test]
fn nothing_is_overwritten_unasked() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "years").unwrap();
    for existing in [Existing::Keep, Existing::Replace] {
        let error = TraceWriter::create(dir.path(), info(), existing).unwrap_err();
        assert!(matches!(error, WriteError::NotEmpty { .. }), "{error}");
    }
    let trace = dir.path().join("trace");
    killed(&trace, None);
    fs::write(trace.join("notes.txt"), "mine").unwrap();
    let error = TraceWriter::create(&trace, info(), Existing::Keep).unwrap_err();
    assert!(matches!(error, WriteError::Exists { .. }), "{error}");
    let writer = TraceWriter::create(&trace, info(), Existing::Replace).unwrap();
    writer.finish(Outcome::Complete).unwrap();
    assert_eq!(Trace::open(&trace).unwrap().manifest().threads.len(), 0);
    assert!(trace.join("notes.txt").exists());
    assert!(!trace.join("thread-0.events").exists());
}

#[test]
fn an_aborted_recording_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, stream, _) = begin(dir.path());
    drop(stream);
    writer
        .finish(Outcome::Aborted("the disk is full".into()))
        .unwrap();
    let info = Trace::open(dir.path()).unwrap().info();
    assert_eq!(info.state, RecordingState::Aborted);
    assert_eq!(info.reason.as_deref(), Some("the disk is full"));
}

#[test]
fn a_complete_recording_needs_its_streams_finished() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, stream, _) = begin(dir.path());
    let error = writer.finish(Outcome::Complete).unwrap_err();
    assert!(matches!(error, WriteError::StreamOpen { .. }), "{error}");
    drop(stream);
}

#[test]
fn dropped_events_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = create(dir.path());
    writer.dropped(7);
    writer.finish(Outcome::Complete).unwrap();
    assert_eq!(Trace::open(dir.path()).unwrap().info().dropped_events, 7);
}

#[test]
fn an_empty_stored_block_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, mut stream, table) = begin(dir.path());
    stream.words(&[], &table).unwrap();
    stream.flush();
    assert_eq!(stream.finish().unwrap().blocks, 0);
    writer.finish(Outcome::Complete).unwrap();
    assert_eq!(
        fs::metadata(dir.path().join("thread-0.events"))
            .unwrap()
            .len(),
        0
    );
}
