//! What memories count.

use super::device::DeviceCounters;
use crate::{MemoryCounts, Time};

/// What a channel's controller and device count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounters {
    /// Lines read.
    pub reads: u64,
    /// Lines (or parts of lines) written by caches and write-combining buffers.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes that caches and write-combining buffers sent.
    pub written_bytes: u64,
    /// Reads answered from the write pending queue.
    pub forwarded_reads: u64,
    /// Writes added to a line that waited already.
    pub merged_writes: u64,
    /// Changes of a line's state in a directory on the device.
    pub upgrades: u64,
    /// Time that reads waited for a drain of the writes, or for an entry of the read queue.
    pub read_wait: Time,
    /// Time that writes waited for an entry of the write queue.
    pub queue_full: Time,
    /// Time that writes spent in the queue of a device that orders them itself; divided by the
    /// duration of the run, its mean depth.
    pub write_queue_time: Time,
    /// What the device counts.
    pub device: DeviceCounters,
}

impl ChannelCounters {
    /// Adds another channel's counts.
    pub fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.forwarded_reads += other.forwarded_reads;
        self.merged_writes += other.merged_writes;
        self.upgrades += other.upgrades;
        self.read_wait += other.read_wait;
        self.queue_full += other.queue_full;
        self.write_queue_time += other.write_queue_time;
        self.device.add(&other.device);
    }

    /// Bytes written to the media for each byte sent to memory; `None` where none was sent.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.written_bytes > 0)
            .then(|| self.device.media_write_bytes as f64 / self.written_bytes as f64)
    }
}

impl From<ChannelCounters> for MemoryCounts {
    fn from(c: ChannelCounters) -> Self {
        Self {
            read_bytes: c.read_bytes,
            write_bytes: c.written_bytes,
            device_write_bytes: c.device.write_bytes,
            media_read_bytes: c.device.media_read_bytes,
            media_write_bytes: c.device.media_write_bytes,
            read_modify_writes: c.device.read_modify_writes,
            row_writes: c.device.row_writes,
            row_hits: c.device.row_hits,
            row_misses: c.device.row_misses,
            row_conflicts: c.device.row_conflicts,
            read_wait: c.read_wait,
            queue_full: c.queue_full,
        }
    }
}
