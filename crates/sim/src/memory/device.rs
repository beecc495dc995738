//! The contract of a memory device.

use prestore_trace::Bytes;

use crate::Time;

/// A device behind one controller. Addresses are byte addresses within the device.
pub trait Device {
    /// Reads `bytes` at `addr`; answers when they are at the controller.
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time;

    /// Writes bytes of the line at `addr`: bit 0 of `mask` is the byte at `addr`. Answers when the
    /// device has taken them, which frees the controller's queue entry.
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time;

    /// Changes the state of the line at `addr` in a directory on the device; answers when it is
    /// done. `at` for devices without one.
    fn upgrade(&mut self, at: Time, _addr: u64) -> Time {
        at
    }

    /// What a controller groups writes by: lines of one row can follow each other without opening
    /// a row. The address itself where the device has no rows.
    fn row(&self, addr: u64) -> u64 {
        addr
    }

    /// Whether a row has to be opened for `addr`, and when its data could move at the soonest, if not before `at`: by which
    /// a controller may choose.
    fn readiness(&self, at: Time, _addr: u64) -> (bool, Time) {
        (true, at)
    }

    /// Writes all that is buffered to the media (end of the run), so that bytes are all counted.
    fn drain(&mut self, at: Time) -> Time;

    /// What happened so far.
    fn counters(&self) -> DeviceCounters;
}

/// What a device counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Bytes read by the controller.
    pub read_bytes: u64,
    /// Bytes written by the controller.
    pub write_bytes: u64,
    /// Bytes read from the media, those of read-modify-writes included.
    pub media_read_bytes: u64,
    /// Bytes written to the media because of the controller's writes.
    pub media_write_bytes: u64,
    /// Bytes that the device wrote to its media all by itself so far (wear levelling, refresh), at a
    /// rate that does not depend on the load. Hardware counters have them in their media writes.
    pub background_write_bytes: u64,
    /// Media writes that needed a read first.
    pub read_modify_writes: u64,
    /// Rows (or the device's units) written to the media.
    pub row_writes: u64,
    /// Accesses whose row (or buffered unit) was open.
    pub row_hits: u64,
    /// Accesses that opened a row in an idle bank.
    pub row_misses: u64,
    /// Accesses that first closed another row.
    pub row_conflicts: u64,
}

impl DeviceCounters {
    /// Adds another device's counts.
    pub fn add(&mut self, other: &Self) {
        // Named one by one, so that a new one cannot be forgotten.
        let Self {
            read_bytes,
            write_bytes,
            media_read_bytes,
            media_write_bytes,
            background_write_bytes,
            read_modify_writes,
            row_writes,
            row_hits,
            row_misses,
            row_conflicts,
        } = other;
        self.read_bytes += read_bytes;
        self.write_bytes += write_bytes;
        self.media_read_bytes += media_read_bytes;
        self.media_write_bytes += media_write_bytes;
        self.background_write_bytes += background_write_bytes;
        self.read_modify_writes += read_modify_writes;
        self.row_writes += row_writes;
        self.row_hits += row_hits;
        self.row_misses += row_misses;
        self.row_conflicts += row_conflicts;
    }
}

/// Bytes that a write of `mask` moves on a bus: memory channels and links move whole bursts of 64
/// bytes and mask what is not meant.
#[inline]
pub(crate) fn burst(mask: u128) -> u64 {
    if mask >> 64 == 0 { 64 } else { 128 }
}
