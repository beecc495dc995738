//! A recording that came to its end, and of which something was lost, changed or moved afterwards:
//! never taken for whole, and what is left is read.

use std::fs;
use std::ops::Range;
use std::path::Path;

use prestore_trace::container::{
    Damage, DamageKind, Decoder, Lost, MANIFEST, Outcome, ReadError, ReadOptions, Trace,
};
use prestore_trace::{ProcessId, ThreadId};
use proptest::prelude::*;

use crate::common::block_frame;
use crate::{begin, read, words};

const LENIENT: ReadOptions = ReadOptions { lenient: true };

/// A complete recording of two threads: four stored blocks of the first (where they lie in its file),
/// one of the second; the block log has two pieces.
fn complete(dir: &Path) -> Vec<Range<usize>> {
    let (mut writer, mut first, table) = begin(dir);
    writer
        .meta(ProcessId(0), &block_frame(66, 1, 0x1300, &[(1, 0)]))
        .unwrap();
    let mut second = writer.thread(ProcessId(0), 102, None).unwrap();
    second.words(&words(9, 9), &table).unwrap();
    second.finish().unwrap();
    let mut blocks = Vec::new();
    let mut at = 0;
    for seed in 1..=4 {
        first.words(&words(30, seed), &table).unwrap();
        first.flush();
        let end = fs::read(dir.join(EVENTS)).unwrap().len();
        blocks.push(at..end);
        at = end;
    }
    first.finish().unwrap();
    writer.finish(Outcome::Complete).unwrap();
    blocks
}

const EVENTS: &str = "thread-0.events";

/// Changes the first thread's file; what opening it strictly says, and what can be read of it.
fn changed(change: impl FnOnce(&mut Vec<u8>, &[Range<usize>])) -> (String, Vec<Damage>, Vec<u64>) {
    let dir = tempfile::tempdir().unwrap();
    let blocks = complete(dir.path());
    let path = dir.path().join(EVENTS);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes, &blocks);
    fs::write(&path, bytes).unwrap();
    let error = Trace::open(dir.path()).unwrap_err();
    assert!(matches!(error, ReadError::Incomplete { .. }), "{error}");
    let trace = Trace::open_with(dir.path(), LENIENT).unwrap();
    assert_eq!(read(&trace, 1), words(9, 9), "the other thread is whole");
    (error.to_string(), trace.damage().to_vec(), read(&trace, 0))
}

fn seeds(seeds: &[u64]) -> Vec<u64> {
    seeds.iter().flat_map(|s| words(30, *s)).collect()
}

#[test]
fn cut_at_a_stored_blocks_boundary() {
    for kept in 0..4 {
        let mut lost_bytes = 0;
        let (message, damage, found) = changed(|bytes, blocks| {
            lost_bytes = bytes.len() - blocks[kept].start;
            bytes.truncate(blocks[kept].start);
        });
        let lost = 4 - kept as u64;
        let expected = Lost {
            blocks: lost,
            of: 4,
            words: lost * 150,
            accesses: lost * 90,
            instructions: lost * 150,
        };
        assert_eq!(damage[0].what, DamageKind::Lost(expected), "{message}");
        assert_eq!(damage[0].bytes, lost_bytes as u64);
        assert!(message.contains(EVENTS), "{message}");
        assert!(message.contains(&format!("{lost} of 4 stored blocks are missing")));
        assert!(message.contains("1 of 2 threads whole"), "{message}");
        assert!(message.contains("--lenient"), "{message}");
        assert_eq!(found, seeds(&[1, 2, 3, 4][..kept]));
    }
}

#[test]
fn stored_blocks_in_another_order() {
    let (message, _, found) = changed(|bytes, blocks| {
        let mut swapped = bytes[..blocks[1].start].to_vec();
        swapped.extend(&bytes[blocks[2].clone()]);
        swapped.extend(&bytes[blocks[1].clone()]);
        swapped.extend(&bytes[blocks[3].clone()]);
        *bytes = swapped;
    });
    assert!(message.contains("stored block 2 stands here, 1 before it are missing"));
    assert_eq!(found, seeds(&[1, 3, 4]));
}

#[test]
fn a_stored_block_twice() {
    let (message, _, found) = changed(|bytes, blocks| {
        let twice = bytes[blocks[1].clone()].to_vec();
        bytes.splice(blocks[2].start..blocks[2].start, twice);
    });
    assert!(
        message.contains("stored block 1 stands here, behind 1"),
        "{message}"
    );
    assert_eq!(found, seeds(&[1, 2, 3, 4]));
}

#[test]
fn a_stored_block_left_out() {
    let (message, _, found) = changed(|bytes, blocks| drop(bytes.drain(blocks[1].clone())));
    assert!(message.contains("1 before it are missing"), "{message}");
    assert_eq!(found, seeds(&[1, 3, 4]));
}

#[test]
fn another_threads_stream() {
    let dir = tempfile::tempdir().unwrap();
    complete(dir.path());
    fs::copy(dir.path().join(EVENTS), dir.path().join("thread-1.events")).unwrap();
    let message = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(
        message.contains("a stored block of thread 0 stands here"),
        "{message}"
    );
}

#[test]
fn another_recordings_stream() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    complete(dir.path());
    let (writer, mut stream, table) = begin(other.path());
    for seed in 5..=8 {
        stream.words(&words(30, seed), &table).unwrap();
        stream.flush();
    }
    stream.finish().unwrap();
    writer.finish(Outcome::Complete).unwrap();
    fs::copy(other.path().join(EVENTS), dir.path().join(EVENTS)).unwrap();
    let message = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(
        message.contains("not those that the manifest knows of"),
        "{message}"
    );
}

#[test]
fn a_block_log_cut_at_a_pieces_boundary() {
    let dir = tempfile::tempdir().unwrap();
    complete(dir.path());
    let path = dir.path().join("process-0.blocks");
    let bytes = fs::read(&path).unwrap();
    let second = bytes.windows(4).rposition(|w| w == b"PSBL").unwrap();
    fs::write(&path, &bytes[..second]).unwrap();
    let message = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(
        message.contains("1 of 2 pieces are missing at its end"),
        "{message}"
    );
    // Both threads are that process's: what they executed is not known.
    assert!(
        message.contains("usable: 0 of 2 threads whole, at most 387 of 387 accesses"),
        "{message}"
    );
    assert!(Trace::open_with(dir.path(), LENIENT).is_ok());
}

#[test]
fn a_file_removed() {
    for file in [EVENTS, "thread-1.events", "process-0.blocks"] {
        let dir = tempfile::tempdir().unwrap();
        complete(dir.path());
        fs::remove_file(dir.path().join(file)).unwrap();
        let message = Trace::open(dir.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("{file} is ")), "{message}");
        let lenient = Trace::open_with(dir.path(), LENIENT).unwrap();
        assert!(lenient.damage()[0].path.ends_with(file));
    }
}

#[test]
fn a_manifest_cut_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    complete(dir.path());
    let path = dir.path().join(MANIFEST);
    let json = fs::read(&path).unwrap();
    for len in 0..json.len() {
        fs::write(&path, &json[..len]).unwrap();
        let error = Trace::open(dir.path());
        assert!(error.is_err(), "{len} of {} bytes", json.len());
        let lenient = Trace::open_with(dir.path(), LENIENT).unwrap();
        assert!(!lenient.damage().is_empty());
        assert_eq!(read(&lenient, 0), seeds(&[1, 2, 3, 4]));
    }
    fs::remove_file(&path).unwrap();
    let message = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("it has no manifest.json"), "{message}");
    let lenient = Trace::open_with(dir.path(), LENIENT).unwrap();
    let why = lenient.damage()[0].to_string();
    assert!(why.contains("not known any more"), "{why}");
    assert_eq!(read(&lenient, 1), words(9, 9));
}

/// Reads all there is; the first thing that is wrong.
fn read_all(dir: &Path) -> Result<(), ReadError> {
    let trace = Trace::open(dir)?;
    for thread in [ThreadId(0), ThreadId(1)] {
        let mut stream = trace.stream(thread, 0)?;
        let mut decoder = Decoder::new().unwrap();
        while stream.next_segment(&mut decoder)?.is_some() {}
    }
    Ok(())
}

#[test]
fn what_was_read_and_checked_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    complete(dir.path());
    let trace = Trace::open(dir.path()).unwrap();
    let (all, read_so_far) = (trace.manifest().totals.words, trace.words_read());
    let count = || read_so_far.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(count(), 0, "opening reads no events");
    trace.verify().unwrap();
    assert_eq!(count(), all);
    read(&trace, 0);
    read(&trace, 1);
    assert_eq!(count(), 2 * all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any byte of any file.
    #[test]
    fn a_byte_changed(file in 0usize..4, at in any::<prop::sample::Index>(), by in 1u8..) {
        let dir = tempfile::tempdir().unwrap();
        complete(dir.path());
        let name = [EVENTS, "thread-1.events", "process-0.blocks", MANIFEST][file];
        let path = dir.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        fs::write(&path, bytes).unwrap();
        prop_assert!(read_all(dir.path()).is_err(), "{name}, byte {at}");
        // Leniently, nothing but an unreadable manifest keeps it from being read.
        match Trace::open_with(dir.path(), LENIENT) {
            Ok(trace) => {
                let corrupt = trace.verify().unwrap();
                prop_assert!(!trace.damage().is_empty() || !corrupt.is_empty());
                let mut merged = trace.merged().unwrap();
                while merged.next_segment().unwrap().is_some() {}
            }
            Err(e) => prop_assert_eq!(name, MANIFEST, "{}", e),
        }
    }

    /// Any stretch of any file lost.
    #[test]
    fn a_stretch_lost(
        file in 0usize..4,
        at in any::<prop::sample::Index>(),
        len in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        complete(dir.path());
        let name = [EVENTS, "thread-1.events", "process-0.blocks", MANIFEST][file];
        let path = dir.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        let end = at + 1 + len.index(bytes.len() - at);
        bytes.drain(at..end);
        fs::write(&path, bytes).unwrap();
        prop_assert!(read_all(dir.path()).is_err(), "{name}, {at}..{end}");
        if let Ok(trace) = Trace::open_with(dir.path(), LENIENT) {
            prop_assert!(!trace.damage().is_empty());
        }
    }
}
