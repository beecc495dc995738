//! What of a program's persistent memory a power cut may lose, from one recording and without
//! knowing what the program means by its data.
//!
//! [`check`] follows each line of the images (the persistent memory, see [`Image`]) byte by byte:
//! stored, flushed, and by a fence of the thread that flushed made persistent. What is wrong on the
//! way is a [`Finding`], one a range and place in the code.
//!
//! # Rules
//! - A store makes its bytes *dirty*. A flush of the line by any thread takes all bytes that are
//!   dirty by then; a store fence, a full fence or an atomic read-modify-write of that thread makes
//!   them persistent. Bytes stored beside flushed ones are dirty all the same.
//! - `clflush` needs no fence: it is ordered by itself. Non-temporal stores need no flush, but a fence.
//! - A synchronous `msync` is flush and fence of its range.
//! - With caches in the persistent domain ([`Domain::Eadr`]) stores need neither; only what a
//!   non-temporal store has left in its buffer needs a fence, and no flush is of use.
//! - Bytes that are stored again before they were flushed, are no loss: the last store counts.
//!
//! - What is stored in a transaction of libpmemobj, to data that was there before, must be in its undo log by then.
//! - Of recordings with values: a pointer must not be persistent before new data that it points to is.
//!
//! What else is stored is not looked at by [`check`]: that a valid mark is persistent before its data takes the images that a
//! power cut may leave ([`Log`], [`Survivors`]) and somebody who knows what is right.

mod analysis;
mod blame;
mod contents;
mod error;
mod finding;
mod image;
mod images;
mod ledger;
mod line;
mod logged;
mod memory;
mod pass;
mod place;
mod pointers;
mod regions;
mod survive;
mod transactions;
mod under_way;
mod values;
mod write;

pub use analysis::{Checked, Executed, ImageFound, Naming, Options, check, check_and_log};
pub use blame::{Blame, blame};
pub use error::CrashError;
pub use finding::{Finding, FindingKind, First, Spot};
pub use image::{Domain, Image, ImageError};
pub use logged::Logged;
pub use survive::{
    CrashImage, Event, Happening, Log, MOST_STORES, Piece, Place, Replay, Survivors, Tried, WORD,
};
