//! Memory controllers and devices.
//!
//! A line's address becomes a memory (placement), an address in it (page mapping), a channel
//! (interleave). The channel's controller queues, its device answers when it is done. Nothing is
//! an event: what is busy is remembered as intervals of time ([`calendar`]), because calls come only
//! nearly in order.

mod address;
mod any;
mod calendar;
mod channel;
mod controller;
mod counters;
mod cxl;
mod device;
mod dram;
#[cfg(test)]
mod fixtures;
mod formula;
mod fpga;
mod optane;
mod pcm;
mod pipe;
mod placement;
mod rows;
mod system;
mod turnaround;
mod units;

pub(crate) use channel::whole_line;
pub use counters::ChannelCounters;
pub use device::{Device, DeviceCounters};
pub use formula::{peak_read_bandwidth, peak_write_bandwidth, unloaded_read_latency};
pub use optane::OptaneDimm;
pub use placement::{CallSite, Fullness, Placer, Places};
pub(crate) use placement::{LineTable, Room};
pub use system::MemorySystem;
