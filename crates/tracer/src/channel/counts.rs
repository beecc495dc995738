//! One thread's block counters (scope `count`).

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::Tally;

const MAGIC: u64 = 0x544e_554f_4352_5350;
const HEADER: usize = 4096;

/// Read when the thread has ended, or was killed: the counters are exact at any time.
pub(crate) struct CountReader {
    map: Mmap,
    /// Of the thread's process.
    pub(crate) pid: u32,
    /// Kernel's thread id.
    pub(crate) tid: u32,
    /// Stamp of the process's files.
    pub(crate) stamp: u64,
    capacity: usize,
}

impl CountReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the client sized the file before it got this name, and never shortens it.
        let map = unsafe { Mmap::map(&file)? };
        let _ = std::fs::remove_file(path);
        let field =
            |at: usize| u32::from_le_bytes([map[at], map[at + 1], map[at + 2], map[at + 3]]);
        if map.len() < HEADER || map[..8] != MAGIC.to_le_bytes() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a thread's counters are malformed",
            ));
        }
        let capacity = (field(20) as usize).min((map.len() - HEADER) / 8);
        let (pid, tid) = (field(12), field(16));
        let stamp = u64::from(field(32)) | u64::from(field(36)) << 32;
        Ok(Self {
            map,
            pid,
            tid,
            stamp,
            capacity,
        })
    }

    /// Has the thread ended?
    pub(crate) fn ended(&self) -> bool {
        self.map[24] != 0
    }

    /// What the thread has counted and skipped.
    pub(crate) fn tally(&self) -> Tally {
        Tally::read(&self.map)
    }

    /// How often block `id` ran; `None` beyond the counters.
    pub(crate) fn count(&self, id: u32) -> Option<u64> {
        let id = id as usize;
        // The last counter is shared by all ids beyond it.
        if id + 1 >= self.capacity {
            return None;
        }
        let at = HEADER + id * 8;
        let bytes = self.map.get(at..at + 8)?;
        bytes.try_into().ok().map(u64::from_ne_bytes)
    }
}
