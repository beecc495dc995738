//! No payload makes the decoder panic or hold more than a stored block can.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prestore_trace::container::{Decoded, Decoder};

fuzz_target!(|data: &[u8]| {
    let Some((claimed, payload)) = data.split_at_checked(3) else {
        return;
    };
    let words =
        usize::from(claimed[0]) | usize::from(claimed[1]) << 8 | usize::from(claimed[2]) << 16;
    let mut out = Decoded::default();
    let Ok(mut decoder) = Decoder::new() else {
        return;
    };
    if decoder.decode(payload, words, &mut out).is_ok() {
        assert_eq!(out.words.len(), words);
    }
    assert!(out.words.len() <= words);
});
