//! What was encoded is what is decoded, and the counts are those of the replay.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, too

mod common;

use common::{Piece, piece, table, words_of};
use prestore_trace::ThreadId;
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::container::{
    BLOCK_WORDS, Decoded, Decoder, EncodeError, Encoded, Encoder, EventCounts, MAX_RECORD,
};
use prestore_trace::record::{Special, header};
use prestore_trace::replay::{EventContext, ExecSink, Replayer, for_each_event};
use prestore_trace::{Event, EventKind};
use proptest::prelude::*;

/// Encodes all of `words`, given in parts of `part` words, into stored blocks of `limit` words.
fn encode(words: &[u64], table: &BlockTable, limit: usize) -> Vec<(Encoded, Vec<u8>)> {
    let mut encoder = Encoder::new(limit).unwrap();
    let mut blocks = Vec::new();
    let mut rest = words;
    loop {
        let (taken, done) = encoder.push(rest, table).unwrap();
        rest = &rest[taken..];
        if encoder.is_full() || done {
            let mut payload = Vec::new();
            let encoded = encoder.finish(&mut payload).unwrap();
            blocks.push((encoded, payload));
        }
        if done {
            return blocks;
        }
    }
}

fn decode(blocks: &[(Encoded, Vec<u8>)]) -> Vec<u64> {
    let mut decoder = Decoder::new().unwrap();
    let mut out = Decoded::default();
    let mut all = Vec::new();
    for (encoded, payload) in blocks {
        decoder.decode(payload, encoded.words, &mut out).unwrap();
        for &(at, ticks) in &out.times {
            let expected = Special::Time { ticks };
            assert_eq!(Special::parse(5, &out.words[at + 1..]), expected);
        }
        all.extend_from_slice(&out.words);
    }
    all
}

/// Counts events the slow way.
struct Count<'a> {
    table: &'a BlockTable,
    counts: EventCounts,
    execs: u64,
}

impl ExecSink for Count<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let context = EventContext {
            thread: ThreadId(0),
            xsave: self.table.xsave(),
        };
        self.execs += 1;
        let counts = &mut self.counts;
        let mut sink = |e: &Event<'_>| counts.add(e.kind, 1);
        for_each_event(context, before, block, values, executed, &mut sink);
    }

    fn special(&mut self, _: u64, special: Special) {
        match special {
            Special::Alloc { .. } => self.counts.add(EventKind::Alloc, 1),
            Special::Free { .. } => self.counts.add(EventKind::Free, 1),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn decoding_inverts_encoding(
        pieces in prop::collection::vec(piece(), 0..40),
        limit in prop_oneof![Just(BLOCK_WORDS), 0usize..500],
    ) {
        let table = table();
        let words = words_of(&pieces, &table);
        prop_assert_eq!(decode(&encode(&words, &table, limit)), words);
    }

    #[test]
    fn counts_are_those_of_the_replay(
        pieces in prop::collection::vec(piece(), 0..40),
        limit in prop_oneof![Just(BLOCK_WORDS), 0usize..500],
    ) {
        let table = table();
        let alloc_or_free = |p: &Piece| matches!(p, Piece::Special(2 | 3, _));
        // Malformed allocation records count by their type here, and not at all in a replay.
        let pieces: Vec<_> = pieces.into_iter().filter(|p| !alloc_or_free(p)).collect();
        let mut words = words_of(&pieces, &table);
        words.extend(common::alloc(64, 64));
        let mut before = 0u64;
        let mut from = 0;
        for (encoded, _) in encode(&words, &table, limit) {
            let mut count = Count { table: &table, counts: EventCounts::default(), execs: 0 };
            let mut replayer = Replayer::starting_at(before);
            let part = &words[from..from + encoded.words];
            prop_assert_eq!(replayer.replay(part, &table, &mut count).unwrap(), part.len());
            prop_assert_eq!(encoded.counts, count.counts);
            prop_assert_eq!(encoded.execs, count.execs);
            prop_assert_eq!(before.wrapping_add(encoded.instrs), replayer.instrs());
            before = replayer.instrs();
            from += encoded.words;
        }
        prop_assert_eq!(from, words.len());
    }

    #[test]
    fn words_may_come_in_parts(
        pieces in prop::collection::vec(piece(), 1..20),
        part in 1usize..10,
    ) {
        let table = table();
        let mut encoder = Encoder::new(BLOCK_WORDS).unwrap();
        let mut all = Vec::new();
        for some in pieces.chunks(part) {
            let words = words_of(some, &table);
            prop_assert_eq!(encoder.push(&words, &table).unwrap(), (words.len(), true));
            all.extend(words);
        }
        let mut payload = Vec::new();
        let encoded = encoder.finish(&mut payload).unwrap();
        prop_assert_eq!(decode(&[(encoded, payload)]), all);
    }

    #[test]
    fn garbage_is_refused_or_decoded_within_bounds(
        mut pieces in prop::collection::vec(piece(), 1..10),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        claimed in 0usize..1 << 20,
    ) {
        let table = table();
        pieces.truncate(10);
        let words = words_of(&pieces, &table);
        for (encoded, mut payload) in encode(&words, &table, BLOCK_WORDS) {
            for (at, byte) in &flips {
                let at = at.index(payload.len());
                payload[at] ^= byte;
            }
            let mut out = Decoded::default();
            let mut decoder = Decoder::new().unwrap();
            for n in [encoded.words, claimed] {
                if decoder.decode(&payload, n, &mut out).is_ok() {
                    prop_assert_eq!(out.words.len(), n);
                }
            }
        }
    }
}

#[test]
fn a_regular_loop_takes_next_to_nothing() {
    let table = table();
    let one = Piece::Loop {
        blocks: vec![65, 66],
        times: 20_000,
        start: 0x7fff_0000,
        stride: 8,
    };
    let blocks = encode(&words_of(&[one], &table), &table, BLOCK_WORDS);
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].0.counts.accesses(), 80_000);
    assert!(blocks[0].1.len() < 150, "{} bytes", blocks[0].1.len());
}

#[test]
fn words_end_at_a_zero_header_and_before_a_torn_record() {
    let table = table();
    let mut encoder = Encoder::new(BLOCK_WORDS).unwrap();
    let words = [header(65, 0), 1, 0, 0];
    assert_eq!(encoder.push(&words, &table).unwrap(), (2, true));
    let torn = [header(65, 0), 1, header(66, 0), 1, 2];
    assert_eq!(encoder.push(&torn, &table).unwrap(), (2, true));
}

#[test]
fn a_cut_stays_with_what_it_cuts() {
    let table = table();
    let cut = Piece::Cut { block: 66, at: 1 };
    let words = words_of(&[cut.clone(), cut], &table);
    let blocks = encode(&words, &table, 1);
    assert_eq!(blocks.len(), 3, "two of words, and an empty one at the end");
    assert_eq!(blocks[0].0.instrs, 1);
    assert_eq!(blocks[0].0.counts.accesses(), 1);
}

#[test]
fn an_unknown_block_is_named_and_what_came_before_is_kept() {
    let table = table();
    let mut encoder = Encoder::new(BLOCK_WORDS).unwrap();
    let error = encoder.push(&[header(65, 0), 1, header(99, 0)], &table);
    assert!(matches!(error, Err(EncodeError::UnknownBlock { id: 99 })));
    assert_eq!(encoder.pending(), 2);
}

#[test]
fn an_oversized_record_is_refused() {
    let mut encoder = Encoder::new(BLOCK_WORDS).unwrap();
    let error = encoder.push(&[header(5, MAX_RECORD + 1)], &table());
    assert!(matches!(error, Err(EncodeError::Oversized { id: 5, .. })));
}

#[test]
fn ticks_are_those_of_the_first_and_last_time_record() {
    let mut words = common::time(70);
    words.extend([header(65, 0), 1]);
    words.extend(common::time(90));
    let blocks = encode(&words, &table(), BLOCK_WORDS);
    assert_eq!(blocks[0].0.ticks, Some((70, 90)));
}
