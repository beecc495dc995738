//! The memories of a machine, and which data lives where.

use serde::Deserialize;

use crate::device::Device;
use crate::quantity::{Nanos, Rate, Size};

/// A memory: controllers in front of devices, one device a channel.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Memory {
    /// `dram`, `pmem`, `fpga`: what placement rules name.
    #[serde(skip)]
    pub name: String,
    /// Bytes in all; `None`: as much as is asked for. A program that allocates more is refused.
    pub capacity: Option<Size>,
    /// Channels, each with a controller and a device of its own.
    pub channels: u32,
    /// Consecutive bytes on one channel.
    pub interleave: Size,
    /// The controller of each channel.
    pub controller: Controller,
    /// The device behind each controller.
    pub device: Device,
}

/// A memory controller.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Controller {
    /// From the last cache level to the controller and back, for reads (mesh, queues, data return).
    pub read_latency: Nanos,
    /// From the caches to acceptance by the controller, the persistence domain where it is one.
    pub write_latency: Nanos,
    /// Reads pending at once.
    pub read_queue: u32,
    /// Writes pending at once.
    pub write_queue: u32,
    /// Writes pending at which draining starts.
    pub drain_high: u32,
    /// Writes pending at which draining stops.
    pub drain_low: u32,
    /// Writes at least that leave together once the controller turns from reads to writes (DRAM and PCM; `None`: one where
    /// the device is idle, as many as are above `drain_low` else).
    pub drain_batch: Option<u32>,
    /// In which order the writes of a batch go (PCM).
    #[serde(default)]
    pub write_order: WriteOrder,
    /// From a line's write to the device until the line can be sent again, because the device
    /// acknowledges writes; what comes for it meanwhile is added to it (zero: neither; Optane only).
    #[serde(default)]
    pub line_gap: Nanos,
    /// Data bus between controller and device (`None`: the device's own limits are the limit).
    pub bus: Option<Rate>,
    /// Does acceptance mean persistence (ADR)? The simulator's log of what was accepted says so of each write.
    pub persistent: bool,
}

/// In which order the writes that leave a controller together go.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOrder {
    /// The oldest, those of its row, the oldest that is left, and so on.
    #[default]
    Rows,
    /// First ready, first come, first served (Rixner et al., ISCA 2000): those of the row that was written last, those
    /// of an open row, then the one whose bank can open its row first.
    FrFcfs,
}

/// Which data lives in which memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Index in [`crate::Machine::memories`] of everything that no rule names.
    pub default_memory: usize,
    /// Tried in order; the first that fits an address decides.
    pub rules: Vec<PlacementRule>,
    /// The memory types of data; what no rule names is write-back. Tried in order, as [`Self::rules`].
    pub types: Vec<TypeRule>,
    /// How virtual addresses of the trace become device addresses.
    pub pages: PageMapping,
}

/// A rule about memory types.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeRule {
    /// What it is about.
    pub of: RangeSelector,
    /// Its type.
    pub memory_type: MemoryType,
}

/// How the caches treat a line (x86: the types of its page attribute table; Arm: Normal and Device memory).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryType {
    /// Loads and stores are cached.
    #[default]
    WriteBack,
    /// Loads are cached. Stores go to memory, one after the other, and change what is cached.
    WriteThrough,
    /// Nothing is cached. Stores gather in write-combining buffers.
    WriteCombining,
    /// Nothing is cached. Loads and stores go to memory in the program's order, one after the other.
    Uncacheable,
}

impl MemoryType {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::WriteBack,
        Self::WriteThrough,
        Self::WriteCombining,
        Self::Uncacheable,
    ];

    /// Its name in machine files.
    pub fn name(self) -> &'static str {
        match self {
            Self::WriteBack => "write-back",
            Self::WriteThrough => "write-through",
            Self::WriteCombining => "write-combining",
            Self::Uncacheable => "uncacheable",
        }
    }
}

/// A rule of placement.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementRule {
    /// What it is about.
    pub of: RangeSelector,
    /// Index in [`crate::Machine::memories`].
    pub memory: usize,
}

/// Which addresses a rule is about.
#[derive(Clone, Debug, PartialEq)]
pub enum RangeSelector {
    /// Virtual addresses, first to last inclusive.
    Addresses(u64, u64),
    /// Allocations of at least this many bytes (a call of the allocator, or a mapping).
    AllocationsFrom(Size),
    /// Allocations whose call stands in a function of this name, or at this `file:line`.
    AllocationSite(String),
    /// The stacks of threads.
    Stacks,
}

/// From virtual pages to device addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageMapping {
    /// As they are.
    #[default]
    Identity,
    /// Pages of this many bytes lie in seeded random order, as after a while of use.
    Shuffled(Size),
}
