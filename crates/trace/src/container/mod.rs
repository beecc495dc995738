//! The trace container: a directory of a manifest, block logs and event streams.
//!
//! `docs/trace-format.md` describes every byte of it.

mod codec;
mod counts;

pub use codec::{
    BLOCK_WORDS, DecodeError, Decoded, Decoder, EncodeError, Encoded, Encoder, MAX_RECORD,
};
pub use counts::{EventCounts, kind_name};
