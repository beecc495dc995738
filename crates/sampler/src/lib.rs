//! The sampling pass of DirtBuster (P0, section 6.2.1, step 1): which instructions and call paths
//! write, at less than 1 % overhead, where the processor can sample stores precisely.
//!
//! Three mechanisms, best first: Intel `mem-stores` with PEBS, AMD IBS, Arm SPE. Where there is none
//! (most virtual machines) or it is forbidden, [`sample`] returns [`Unavailable`] with the cause and
//! the command that mends it, and the caller counts stores exactly instead (the `count` scope).
//!
//! Each step is a module and, but for system calls, a function of its inputs:
//! [`pmu`] reads what the kernel offers and plans an event; [`attr`] turns the plan into attributes;
//! [`ring`] finds the unread bytes and splits them into records; [`record`] and [`spe`] decode them;
//! [`session`] joins them to a run; [`Samples`] has the result by instruction and by call path.

mod address_space;
mod aggregate;
pub mod attr;
mod counters;
mod elf_layout;
mod host;
mod options;
pub mod pmu;
pub mod record;
pub mod ring;
mod samples;
pub mod session;
pub mod spe;
mod unavailable;

pub use address_space::{AddressSpaces, CodeModule, Place};
pub use aggregate::{InstructionStores, PathStores};
pub use counters::{Counters, StoreEvent, probe};
pub use elf_layout::ElfLayout;
pub use host::HostFacts;
pub use options::{
    CLOCK_SAMPLE_COST_NS, DEFAULT_CLOCK_HERTZ, DEFAULT_HERTZ, DEFAULT_IBS_HERTZ,
    DEFAULT_SPE_INTERVAL, EventChoice, Options, Rate, SAMPLE_COST_NS, SPE_RECORD_COST_NS,
};
pub use pmu::Source;
pub use record::AccessKind;
pub use samples::{ChainId, Losses, Overhead, Sample, Samples};
pub use session::{SampleError, sample};
pub use unavailable::{Cause, Refusal, Unavailable, diagnose, no_store_event};
