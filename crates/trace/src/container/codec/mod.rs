//! One thread's words to few bytes and back.
//!
//! Programs repeat themselves: the next block is mostly the one that followed last time, and each
//! of its values mostly moved by the stride it moved by last time. [`model`] predicts both; an
//! execution that is wholly as predicted only lengthens a run, one that is not costs a control
//! byte and what was mispredicted. zstd then takes what regularity is left in the misses.
//!
//! Four byte streams, compressed each by itself because they have nothing in common:
//! - *control*, a byte for each execution that is not in a run: bits 0-1 the successor
//!   (0 predicted, 1 alternative, 2 in *aux*), bits 2-3 the values (0 all predicted, 1 those
//!   mispredicted that were last time, 2 a mask in *aux*), bits 4-7 the executions in the run
//!   before it (15: 15 more than a varint in *aux* says);
//! - *aux*, LEB128 varints: long runs, indices of successors, descriptions of states seen for the
//!   first time, masks;
//! - *codes*, a byte for each mispredicted value: 0 the slot's last odd step, 1-4 one of the
//!   steps written last, 5+n a step of n bytes in *raw*;
//! - *raw*, steps, zigzag, little-endian, cut to their length.
//!
//! A successor in *aux* is `index * 2 + h`, where `index` counts the states in order of
//! appearance from 1; an index one past the last makes a new state and is followed by the
//! header's id and its number of payload words. `h` says that the header word is not the one
//! expected: its high half follows as a varint.

mod bytes;
mod decode;
mod encode;
mod hits;
mod model;
mod pack;
mod tally;
mod varint;

pub use decode::{DecodeError, Decoded, Decoder};
pub use encode::{EncodeError, Encoded, Encoder};

/// Words after which an encoder says that its stored block is full: 4 MiB of them, large enough
/// that relearning the program's blocks is cheap, small enough to hold one a thread when reading.
pub const BLOCK_WORDS: usize = 1 << 19;

/// Payload words a record can have at most.
pub const MAX_RECORD: u32 = 0xffff;

/// Words a stored block can have at most: the record that fills it, and a cut of that record.
pub(crate) const MAX_WORDS: usize = BLOCK_WORDS + 2 * (MAX_RECORD as usize + 1);

const SUCC_PREDICTED: u8 = 0;
const SUCC_ALT: u8 = 1;
const SUCC_AUX: u8 = 2;
const VALUES_PREDICTED: u8 = 0 << 2;
const VALUES_SAME_MASK: u8 = 1 << 2;
const VALUES_NEW_MASK: u8 = 2 << 2;
const LONG_RUN: u64 = 15;
const CODE_ALT: u8 = 0;
const CODE_RECENT: u8 = 1;
const CODE_DELTA: u8 = CODE_RECENT + model::RECENT as u8;

/// The four byte streams.
#[derive(Clone, Debug, Default)]
struct Streams<B> {
    control: B,
    aux: B,
    codes: B,
    raw: B,
}
