//! A whole machine.

use serde::Deserialize;

use crate::quantity::{Cycles, Nanos, Size};
use crate::{CacheLevel, Core, Memory, Placement};

/// A machine, checked: sizes, ways and line are consistent, every name resolves.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name, `machine-a`.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// Cache line, bytes: a power of two from 32 to 128.
    pub line: Size,
    /// Its cores.
    pub core: Core,
    /// Cache levels, nearest first; the last is the point where memory begins.
    pub caches: Vec<CacheLevel>,
    /// Who knows which cache has which line.
    pub directory: Directory,
    /// Its memories.
    pub memories: Vec<Memory>,
    /// What lives where.
    pub placement: Placement,
}

/// The coherence directory (MESI).
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Directory {
    /// Where the state of a line is kept.
    pub home: DirectoryHome,
    /// A line in another core's private cache: from request to data.
    pub snoop: Cycles,
    /// Its size where it is limited: evicting an entry evicts the line from the private caches.
    pub filter: Option<SnoopFilter>,
}

/// Where the directory lives.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryHome {
    /// With the shared cache.
    OnChip,
    /// In the memory that holds the line: each change to exclusive is a round trip to the device
    /// (P0, section 4.2), on top of reading the line.
    Device {
        /// Round trip of a change of state, without data; `None`: the device's own read latency.
        upgrade: Option<Nanos>,
    },
}

/// A snoop filter of limited size.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub struct SnoopFilter {
    /// Lines it can follow.
    pub entries: u64,
    /// Associativity.
    pub ways: u32,
}
