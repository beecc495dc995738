//! The encoder writes the same bytes as ever: what was made faster changes no recording.
#![allow(clippy::unwrap_used)] // helpers of tests, too

mod common;

use common::{Piece, alloc, block, plain, table};
use prestore_trace::EventKind;
use prestore_trace::container::Encoder;

/// xorshift64*: the sequence is part of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// Lengths of the stored blocks, and the CRC-32 of all their payloads. Both change with what is encoded and how, with
/// the words below, and with the version of zstd, whose output is in them.
#[test]
fn payloads_are_the_bytes_that_they_were() {
    let mut table = table();
    // Blocks of every number of values up to 12, and around the words of a miss mask.
    for (id, words) in (72..).zip((0..=12).chain([63, 64, 65, 128, 130])) {
        let refs = (0..words.min(3) as u16).map(|slot| plain(EventKind::Load, slot, slot, 0));
        table.put(block(id, words, refs.collect()));
    }
    let mut random = Random(1);
    let mut words = Vec::new();
    for round in 0..4000 {
        let block = 64 + random.below(26) as u32;
        match random.below(8) {
            0 => words.extend(alloc(random.below(1 << 40), round)),
            1 | 2 => Piece::Once {
                block,
                high: 0,
                seed: random.below(1 << 31) << 20,
            }
            .write(&table, &mut words),
            _ => {
                let more = 64 + random.below(26) as u32;
                let mut blocks = vec![block, 64 + random.below(26) as u32, more];
                blocks.truncate(1 + random.below(3) as usize);
                Piece::Loop {
                    blocks,
                    times: random.below(20) as usize,
                    start: random.below(1 << 31) << 12,
                    stride: random.below(4) * 8,
                }
                .write(&table, &mut words);
            }
        }
    }
    let (mut lengths, mut crc) = (Vec::new(), crc32fast::Hasher::new());
    let mut encoder = Encoder::new(100_000).unwrap();
    let mut rest = &words[..];
    while !rest.is_empty() {
        // Buffers of all lengths, so that records of all blocks stand at their ends.
        let buffer = &rest[..rest.len().min(300 + random.below(900) as usize)];
        let (taken, done) = encoder.push(buffer, &table).unwrap();
        rest = &rest[taken..];
        if encoder.is_full() || (done && rest.is_empty()) {
            let mut payload = Vec::new();
            encoder.finish(&mut payload).unwrap();
            crc.update(&payload);
            lengths.push(payload.len());
        }
    }
    let expected = [
        19179, 25458, 27875, 28945, 30645, 25707, 29831, 21786, 23858, 29320, 23825, 19555, 23950,
        3757,
    ];
    assert_eq!(
        (lengths.as_slice(), crc.finalize()),
        (&expected[..], 0x3a3cc42c)
    );
}
