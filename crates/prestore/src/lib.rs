//! Pre-stores: moving written data down the memory hierarchy before the hardware would (P0, section 2).
//!
//! * [`demote`] moves lines to a farther cache level, [`clean`] writes dirty lines to memory; both keep the
//!   data cached, return at once and are hints: they never change what a program computes.
//! * [`copy_skip`], [`fill_skip`] and [`write_skip`] write around the caches with non-temporal stores.
//! * [`TypedMemory`] is memory of a chosen type (write-back, write-through, write-combining, uncacheable), where the kernel
//!   module of `kernel/` is loaded.
//! * [`query`] says which instruction stands behind an operation on this CPU and why; where an operation does
//!   nothing, it says so.
//!
//! None of them makes data durable or orders anything between threads, with one exception that Rust's memory
//! model asks for: the safe skipping functions end with a store fence ([`fence`]).
//!
//! ```
//! let values = vec![7u64; 1000];
//! prestore::clean(&values);
//! println!("clean is {}", prestore::query(prestore::Op::Clean).instruction);
//! ```
//!
//! The same operations are offered to C, C++ and Fortran (feature `capi`, `include/prestore.h`).
//! Without the default feature `std` the crate needs only `core`, and reads no environment switches.
#![cfg_attr(not(feature = "std"), no_std)]

mod arch;
#[cfg(feature = "capi")]
mod capi;
#[cfg(all(feature = "capi", target_os = "linux"))]
mod capi_map;
mod choice;
mod info;
mod instruction;
mod lines;
#[cfg(all(feature = "std", target_os = "linux"))]
mod map_error;
#[cfg(all(feature = "std", target_os = "linux"))]
mod memory_type;
mod ops;
#[cfg(feature = "capi")]
mod region;
mod resolve;
mod skip;
mod switches;
#[cfg(all(feature = "std", target_os = "linux"))]
mod typed_memory;
mod writer;

pub use info::{Info, Retains, query};
pub use instruction::Instruction;
pub use lines::{LineOp, for_each_line};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use map_error::MapError;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use memory_type::{MemoryType, MemoryTypes};
pub use ops::{Op, clean, demote, execute, fence, prestore, usable};
pub use skip::{copy_skip, copy_skip_unfenced, fill_skip, fill_skip_unfenced};
#[cfg(feature = "std")]
pub use switches::switch_names;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use typed_memory::{TypedMemory, memory_types};
pub use writer::{RawWriter, Writer, write_skip};
