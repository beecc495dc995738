//! An Optane DIMM (100 series): the parameters of the model in the simulator.
//!
//! "OptaneStudy" below is the measurements published with FAST'20 ("An Empirical Guide to the
//! Behavior and Use of Scalable Persistent Memory", NVSL); VANS is the simulator of MICRO'20.

use serde::Deserialize;

use crate::quantity::{Nanos, Rate, Share, Size};

/// One Optane DIMM.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Optane {
    /// Internal unit (XPLine).
    pub unit: Size,
    /// Combining buffer (XPBuffer).
    pub buffer: Size,
    /// Latency of a read that hits a buffer on the DIMM.
    pub read_hit: Nanos,
    /// Latency of a read from the media.
    pub read_miss: Nanos,
    /// Peak bandwidth of reads from the media.
    pub media_read: Rate,
    /// Peak bandwidth of writes to the media.
    pub media_write: Rate,
    /// Bandwidth of the bus between controller and DIMM.
    pub bus: Rate,
    /// Share of evictions that take a random unit instead of the oldest.
    pub random_eviction: Share,
    /// Rate at which the DIMM accepts written lines (hits of its buffer; OptaneStudy: 4.1 GB/s when
    /// a region smaller than the buffer is rewritten).
    pub accept: Rate,
    /// Reads that the media serve at once; a unit's address chooses which of them.
    pub read_ports: u32,
    /// Buffer of units read from the media, so that a unit's other lines are not read again.
    pub read_buffer: Size,
    /// Units whose written lines wait in order before the combining buffer while the media are
    /// behind; lines of one unit leave together. (VANS has such a queue, of 64 lines.)
    pub line_queue: u32,
    /// Units handed to the media ahead of the one being written.
    pub media_queue: u32,
    /// A whole unit that is not accessed for this long goes to the media; one that keeps being
    /// rewritten is copied there this often.
    pub settle: Nanos,
    /// From the start of a unit's write to the media until it can be read or written there again.
    pub write_latency: Nanos,
    /// How much a line that is read delays the writes to the media.
    pub read_delays_write: Nanos,
    /// What the DIMM writes to its media all by itself (OptaneStudy: 41 MB/s in idle and busy DIMMs
    /// alike, by the effective write ratio of loads).
    pub background_write: Rate,
    /// Bytes that the address translation maps together. One unit of each block can be open: a whole
    /// unit goes to the media when another one of its block is written (OptaneStudy: store and clwb
    /// over 512 B again and again wait for the media, over 256 B they do not).
    pub block: Size,
    /// Wear levelling (`None`: none).
    pub migration: Option<Migration>,
}

/// Wear levelling: a [block](Optane::block) that was written often moves elsewhere and cannot be accessed meanwhile.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Migration {
    /// Unit writes to one block after which it moves.
    pub writes: u32,
    /// How long the move takes.
    pub pause: Nanos,
    /// Blocks whose writes are counted (entries of the on-DIMM translation buffer).
    pub tracked: u32,
}
