//! Stored blocks that are encoded beside each other, and as the words come.

use prestore_trace::block::BlockTable;
use prestore_trace::container::{BLOCK_WORDS, Outcome, Trace, WriteError};
use prestore_trace::record::header;
use prestore_trace::{ProcessId, SiteTable};

use super::common::block_frame;
use super::{begin, read, words};

/// Words of `n` executions whose values follow from nothing.
fn odd(n: u64, seed: u64) -> Vec<u64> {
    let value = |i: u64| (seed << 32 | i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let one = |i| [header(64, 0), value(i)];
    (0..n).flat_map(one).collect()
}

/// Words of `n` executions that are all as predicted.
fn even(n: u64) -> Vec<u64> {
    (0..n).flat_map(|i| [header(64, 0), 8 * i]).collect()
}

#[test]
fn a_thread_s_stored_blocks_are_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, mut stream, mut table) = begin(dir.path());
    let mut all = Vec::new();
    for round in 0..150 {
        // Blocks are described while others are encoded.
        let id = 66 + round as u32;
        let frame = block_frame(id, 1, 0x2000 + u64::from(id), &[(1, 0)]);
        writer.meta(ProcessId(0), &frame).unwrap();
        table.feed(&frame, &mut SiteTable::default()).unwrap();
        let mut part = match round / 50 {
            1 => even(20_000),
            _ => odd(20_000, round),
        };
        part.extend([header(id, 0), round]);
        stream.words(&part, &table).unwrap();
        all.extend(part);
    }
    let totals = stream.finish().unwrap();
    let written = writer.finish(Outcome::Complete).unwrap();

    let trace = Trace::open(dir.path()).unwrap();
    assert!(trace.damage().is_empty());
    assert_eq!(read(&trace, 0), all);
    assert_eq!(totals.words, all.len() as u64);
    assert_eq!(written.totals.instructions, 2 * 150 * 20_001);
    let least = all.len().div_ceil(BLOCK_WORDS) as u64;
    let blocks = totals.blocks;
    assert!((least..=least + 3).contains(&blocks), "{blocks} of {least}");
}

/// What is written is the same however it was cut into buffers and whoever encoded it.
#[test]
fn a_regular_stream_is_the_same_as_another_s() {
    let files = [1, 40].map(|pieces| {
        let dir = tempfile::tempdir().unwrap();
        let (_writer, mut stream, table) = begin(dir.path());
        let all = even(3 * BLOCK_WORDS as u64 / 2);
        // What comes first is a stored block by itself.
        stream.words(&all[..1000], &table).unwrap();
        stream.flush();
        for block in all.chunks(BLOCK_WORDS) {
            for piece in block.chunks((BLOCK_WORDS / pieces / 2) * 2) {
                stream.words(piece, &table).unwrap();
            }
            stream.sync().unwrap();
        }
        stream.finish().unwrap();
        std::fs::read(dir.path().join("thread-0.events")).unwrap()
    });
    assert_eq!(files[0], files[1]);
}

#[test]
fn many_streams_that_gather_are_not_all_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _first, table) = begin(dir.path());
    let mut streams: Vec<_> = (0..60)
        .map(|i| writer.thread(ProcessId(0), 200 + i, None).unwrap())
        .collect();
    // 60 times less than a stored block, and twice as much as may be gathered.
    let part = odd(BLOCK_WORDS as u64 / 10, 7);
    for _ in 0..4 {
        for stream in &mut streams {
            stream.words(&part, &table).unwrap();
        }
    }
    assert!(streams.iter().any(|s| s.bytes() > 0));
    for stream in streams {
        assert_eq!(stream.finish().unwrap().words, 4 * part.len() as u64);
    }
}

fn is_told(ends: &[u64], what: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (writer, mut stream, table) = begin(dir.path());
    let good = words(300_000, 3);
    stream.words(&good, &table).unwrap();
    stream.words(ends, &table).unwrap();
    stream.flush();
    let error = stream.sync().unwrap_err();
    assert!(matches!(error, WriteError::Encode { .. }), "{error}");
    assert!(error.to_string().contains(what), "{error}");
    let again = stream.words(&good, &table).unwrap_err();
    assert!(matches!(again, WriteError::Failed { .. }), "{again}");
    writer.finish(Outcome::Aborted(error.to_string())).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(read(&trace, 0), good, "what lies before it is readable");
}

#[test]
fn a_bad_record_is_told_and_what_lies_before_it_is_kept() {
    is_told(&[header(99, 0), 1], "does not describe");
    is_told(&[header(65, 0), 1], "ends within a record");
}

#[test]
fn a_torn_record_at_the_end_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, mut stream, table) = begin(dir.path());
    stream.words(&words(10, 3), &table).unwrap();
    stream.words(&[header(65, 0), 1], &table).unwrap();
    stream.finish().unwrap();
    writer.finish(Outcome::Complete).unwrap();
    assert_eq!(read(&Trace::open(dir.path()).unwrap(), 0), words(10, 3));
}

#[test]
fn a_copy_of_a_table_stays_as_it_was() {
    let mut table = BlockTable::default();
    let mut sites = SiteTable::default();
    let mut feed = |table: &mut BlockTable, id| {
        let frame = block_frame(id, 1, 0x1000, &[(1, 0)]);
        table.feed(&frame, &mut sites).unwrap();
    };
    (64..1000).for_each(|id| feed(&mut table, id));
    let copy = table.clone();
    (1000..3000).for_each(|id| feed(&mut table, id));
    assert_eq!((copy.iter().count(), table.iter().count()), (936, 2936));
    assert!(copy.get(1000).is_none() && table.get(1000).is_some());
    assert_ne!(copy.changes(), table.changes());
}
