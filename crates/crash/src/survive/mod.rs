//! What a power cut leaves: from a log of stores, flushes and fences to the images that memory may
//! hold afterwards.
//!
//! A [`Log`] is what happened to one stretch of persistent memory, in the order in which it
//! happened. [`Survivors`] gives the images, each different one once, to a check.
//!
//! # The model
//! After any number of events the power is cut. What was made persistent is there; of the rest any
//! part may be, by these rules:
//! - **Lines go their own ways.** The caches may write a line back at any time, or never, whatever
//!   becomes of others (Intel, *Software Developer's Manual*, volume 1, 11.3 and 12.4 on write-back
//!   memory; PMDK's pmreorder and the checker Jaaru, ASPLOS 2021, assume the same).
//! - **A line's stores survive in their order.** x86 lets stores become visible in program order
//!   (SDM volume 3, 9.2.2), and what leaves the caches is the line as it was at some moment: of the
//!   stores to one line, those up to some store survive (Jaaru 3; Px86, Raad et al., POPL 2020).
//! - **Eight bytes are atomic.** An aligned 8-byte word is there or not. Of a store of several words
//!   any of them may be (PMDK, `libpmem(7)`: only 8-byte aligned stores are fail-safe atomic).
//!   Where a string instruction or a system call stores more than a line, the lines are apart too.
//! - **A flush and a fence** of one thread make persistent what anybody had stored to the line by the
//!   flush. A `clflush` does by itself: it is ordered among stores (SDM volume 2, CLFLUSH), so a
//!   cut before it has come to memory is a cut before the instruction. Fences are `sfence`, `mfence`
//!   and atomic read-modify-writes.
//! - **Stores around the caches** (`movnt`) wait in buffers that leave in any order, word by word,
//!   also within a line; a fence of their own thread makes them persistent (SDM volume 1, 10.4.6.2).
//! - **With persistent caches** ([`Domain::Eadr`](crate::Domain::Eadr)) a store is persistent once it has come to the
//!   caches: only the last one may be missing or torn, and stores around the caches until their fence.
//!
//! What waits only grows until an event makes something persistent. So the images that are possible
//! just before such events ([`Survivors::points`]), and at the end, are all that are possible at any time.

mod fingerprint;
mod image;
mod log;
mod pending;
mod pick;
mod place;
mod survivors;
mod view;

pub use image::CrashImage;
pub use log::{Event, Happening, Log, WORD};
pub use pending::MOST_STORES;
pub use place::{Piece, Place, Replay};
pub use survivors::{Survivors, Tried};
