//! What is torn, corrupt, missing, or no trace at all.

use std::fs;
use std::path::Path;

use prestore_trace::container::{
    Damage, DamageKind, Decoder, MANIFEST, ReadOptions, RecordingState, Trace,
};
use prestore_trace::{ProcessId, ThreadId};

use crate::common::block_frame;
use crate::{begin, killed, log, read, words};

#[test]
fn a_killed_recording_is_read_up_to_its_last_whole_block() {
    let dir = tempfile::tempdir().unwrap();
    let (first, whole) = killed(dir.path(), None);
    let path = dir.path().join("thread-0.events");
    let bytes = fs::read(&path).unwrap();
    for len in (0..=whole).rev() {
        fs::write(&path, &bytes[..len]).unwrap();
        // What the manifest knows of was there before the kill: without it the disk lost something.
        let lenient = len < first;
        assert_eq!(Trace::open(dir.path()).is_err(), lenient, "cut at {len}");
        let trace = Trace::open_with(dir.path(), ReadOptions { lenient }).unwrap();
        assert_eq!(trace.manifest().state, RecordingState::Recording);
        let (kept, expected) = match len {
            n if n == whole => (whole, [words(30, 3), words(30, 5)].concat()),
            n if n >= first => (first, words(30, 3)),
            _ => (0, vec![]),
        };
        assert_eq!(read(&trace, 0), expected, "cut at {len}");
        let torn = trace.damage().iter();
        let torn = torn.filter(|d| d.what == DamageKind::TornTail);
        let left_out: u64 = torn.map(|d| d.bytes).sum();
        assert_eq!(left_out, (len - kept) as u64, "cut at {len}");
        if len > kept {
            assert_eq!(trace.damage()[0].what, DamageKind::TornTail);
            assert!(trace.damage()[0].to_string().contains("interrupted"));
        }
        assert_eq!(trace.manifest().totals.words, expected.len() as u64);
    }
}

#[test]
fn a_block_log_is_read_up_to_its_last_whole_piece() {
    let dir = tempfile::tempdir().unwrap();
    let more = block_frame(66, 1, 0x1300, &[(1, 0)]);
    let (mut writer, stream, _) = begin(dir.path());
    let path = dir.path().join("process-0.blocks");
    let first = fs::read(&path).unwrap().len();
    // The manifest on disk knows of none of it yet.
    writer.meta(ProcessId(0), &more).unwrap();
    std::mem::forget((writer, stream));
    let bytes = fs::read(&path).unwrap();
    for len in 0..=bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let left_out: u64 = trace.damage().iter().map(|d| d.bytes).sum();
        let table = trace.table(ProcessId(0)).unwrap();
        let (whole, blocks) = match len {
            n if n == bytes.len() => (n, 3),
            n if n >= first => (first, 2),
            _ => (0, 0),
        };
        assert_eq!(left_out as usize, len - whole, "cut at {len}");
        assert_eq!(table.iter().count(), blocks, "cut at {len}");
    }
}

#[test]
fn zeros_at_the_end_are_a_torn_tail() {
    let dir = tempfile::tempdir().unwrap();
    let (first, _) = killed(dir.path(), Some(0));
    let path = dir.path().join("thread-0.events");
    let mut bytes = fs::read(&path).unwrap();
    bytes.resize(first + 5000, 0);
    fs::write(&path, bytes).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(read(&trace, 0), words(30, 3));
    assert_eq!(trace.damage()[0].bytes, 5000);
}

#[test]
fn threads_that_the_manifest_does_not_name_yet_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, stream, table) = begin(dir.path());
    drop(stream);
    let old = fs::read(dir.path().join(MANIFEST)).unwrap();
    let child = writer.process(300, 100, vec![]).unwrap();
    writer.meta(child, &log(300)).unwrap();
    let mut second = writer.thread(child, 301, None).unwrap();
    second.words(&words(9, 9), &table).unwrap();
    second.finish().unwrap();
    drop(writer);
    fs::write(dir.path().join(MANIFEST), old).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let found = &trace.manifest().threads[1];
    assert_eq!((found.process, found.totals.words), (ProcessId(1), 45));
    assert_eq!(trace.manifest().processes[1].pid, 300);
    assert_eq!(read(&trace, 1), words(9, 9));
}

#[test]
fn a_corrupt_block_is_named_and_can_be_left_out() {
    for (what, flip) in [("header", 30), ("payload", 240)] {
        let dir = tempfile::tempdir().unwrap();
        let (first, _) = killed(dir.path(), None);
        let path = dir.path().join("thread-0.events");
        let mut bytes = fs::read(&path).unwrap();
        bytes[flip] ^= 1;
        fs::write(&path, bytes).unwrap();
        let strict = Trace::open(dir.path()).and_then(|t| {
            t.stream(ThreadId(0), 0)?
                .next_segment(&mut Decoder::new().unwrap())?;
            Ok(())
        });
        let message = strict.unwrap_err().to_string();
        assert!(
            message.contains("thread-0.events is corrupt at byte 0"),
            "{what}: {message}"
        );

        let trace = Trace::open_with(dir.path(), ReadOptions { lenient: true }).unwrap();
        let mut decoder = Decoder::new().unwrap();
        let mut reader = trace.stream(ThreadId(0), 0).unwrap();
        let segment = reader.next_segment(&mut decoder).unwrap().unwrap();
        assert_eq!(segment.words, words(30, 5), "{what}");
        assert_eq!(segment.instrs, Some(150), "{what}");
        let left_out: Vec<Damage> = [trace.damage(), reader.damage()].concat();
        assert_eq!(
            (left_out[0].offset, left_out[0].bytes),
            (0, first as u64),
            "{what}"
        );
    }
}

#[test]
fn a_corrupt_block_log_is_named_and_can_be_left_out() {
    let dir = tempfile::tempdir().unwrap();
    killed(dir.path(), None);
    let path = dir.path().join("process-0.blocks");
    let mut bytes = fs::read(&path).unwrap();
    let bad = block_frame(3, 1, 0x1100, &[]);
    bytes.extend(&bad);
    fs::write(&path, bytes).unwrap();
    let message = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("process-0.blocks is corrupt"), "{message}");
    let trace = Trace::open_with(dir.path(), ReadOptions { lenient: true }).unwrap();
    assert_eq!(trace.damage()[0].bytes, bad.len() as u64);
    assert_eq!(read(&trace, 0).len(), 300);
}

#[test]
fn a_missing_file_is_named() {
    for file in ["process-0.blocks", "thread-0.events"] {
        let dir = tempfile::tempdir().unwrap();
        killed(dir.path(), None);
        fs::remove_file(dir.path().join(file)).unwrap();
        let message = Trace::open(dir.path()).unwrap_err().to_string();
        assert!(message.contains(file), "{message}");
        let lenient = Trace::open_with(dir.path(), ReadOptions { lenient: true }).unwrap();
        assert!(lenient.damage()[0].path.ends_with(file));
    }
}

#[test]
fn another_schema_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    killed(dir.path(), None);
    let path = dir.path().join(MANIFEST);
    let json = fs::read_to_string(&path).unwrap();
    let other = |version: u32| {
        let other = json.replace(
            "\"schema_version\": 3",
            &format!("\"schema_version\": {version}"),
        );
        assert_ne!(other, json);
        fs::write(&path, other).unwrap();
        Trace::open(dir.path()).unwrap_err().to_string()
    };
    let message = other(4);
    let expected = "was written by a newer prestore: schema 4, this one reads up to 3; upgrade";
    assert!(message.ends_with(expected), "{message}");
    let message = other(1);
    let expected = "was written by an older prestore: schema 1, this one reads 3; record";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn what_is_no_trace_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let why = |dir: &Path| Trace::open(dir).unwrap_err().to_string();
    assert!(why(&dir.path().join("none")).contains("there is no such directory"));
    assert!(why(dir.path()).contains("it has no manifest.json"));
    let file = dir.path().join(MANIFEST);
    fs::write(&file, "garbage").unwrap();
    assert!(why(dir.path()).contains("cannot be understood"));
    assert!(why(&file).contains("it is a file"));
    fs::write(&file, "{\"format\": \"other\"}").unwrap();
    assert!(why(dir.path()).contains("belongs to something else"));
    fs::write(
        &file,
        "{\"format\": \"prestore-trace\", \"schema_version\": \"x\"}",
    )
    .unwrap();
    assert!(why(dir.path()).contains("no schema version"));
}
