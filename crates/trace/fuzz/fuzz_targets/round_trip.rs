//! What is encoded is what is decoded, whatever the words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prestore_trace::SiteId;
use prestore_trace::block::{Block, BlockEnd, BlockTable};
use prestore_trace::container::{Decoded, Decoder, Encoder};

/// Blocks 64 to 71 of 0 to 7 values.
fn table() -> BlockTable {
    let mut table = BlockTable::default();
    for words in 0..8 {
        table.put(Block {
            id: 64 + words,
            instrs: 3,
            words,
            end: BlockEnd::Jump,
            start_pc: 0x1000,
            next_pc: 0x100c,
            last_site: SiteId(0),
            start_site: SiteId(0),
            refs: Box::default(),
            lengths: [4, 4, 4].into(),
            code: Box::default(),
        });
    }
    table
}

fuzz_target!(|data: &[u8]| {
    let Some((&limit, data)) = data.split_first() else {
        return;
    };
    // Few bits a word, so that records are met often.
    let words: Vec<u64> = data
        .chunks(2)
        .map(|c| match *c {
            [low, high] => u64::from(low) | u64::from(high) << 32,
            _ => u64::from(c[0]),
        })
        .collect();
    let table = table();
    let (Ok(mut encoder), Ok(mut decoder)) = (Encoder::new(usize::from(limit)), Decoder::new())
    else {
        return;
    };
    let mut out = Decoded::default();
    let (mut at, mut stored) = (0, 0);
    loop {
        let pushed = encoder.push(&words[at..], &table);
        let pending = encoder.pending();
        let mut payload = Vec::new();
        let Ok(encoded) = encoder.finish(&mut payload) else {
            return;
        };
        assert_eq!(encoded.words, pending);
        let decoded = decoder.decode(&payload, encoded.words, &mut out);
        assert!(decoded.is_ok(), "{decoded:?}");
        assert_eq!(out.words, words[stored..stored + pending]);
        stored += pending;
        match pushed {
            Ok((taken, false)) => at += taken,
            Ok((_, true)) | Err(_) => return,
        }
    }
});
