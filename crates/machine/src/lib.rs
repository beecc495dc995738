//! Machine and device descriptions: TOML in, checked and resolved configuration out.
//!
//! The types here are what the simulator is built from. Each quantity is a strong type with its
//! unit ([`quantity`]); where it came from stands in the file beside it.

mod cache;
mod check;
mod core;
mod describe;
pub mod device;
mod error;
mod file;
mod find;
mod machine;
mod memory;
mod nearest;
mod placement;
pub mod quantity;
mod resolve;

pub use self::cache::{CacheLevel, Inclusion, Replacement, Scope, SliceHash, WritePolicy};
pub use self::core::{
    Core, Demote, FlushInstruction, MemoryModel, Prefetch, StoreBuffer, Strings, WriteCombining,
};
pub use self::describe::{Description, DescriptionJson, Entry, Origin, Written};
pub use self::error::{Location, MachineError, Problem};
pub use self::find::{Listed, Machines};
pub use self::machine::{Directory, DirectoryHome, Machine, SnoopFilter};
pub use self::memory::{
    Controller, Memory, MemoryType, PageMapping, Placement, PlacementRule, RangeSelector, TypeRule,
    WriteOrder,
};
pub use self::nearest::nearest;

/// The code in the guide is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-device.md")]
struct AddingADevice;
