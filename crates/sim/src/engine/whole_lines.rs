//! Between caches and memory controllers.

use prestore_trace::LineAddr;

use crate::memory::MemorySystem;
use crate::{ByteMask, MemoryPort, Time};

/// The memories behind caches that send whole lines, whichever bytes of them are dirty: only
/// non-temporal data comes in parts (P0, section 4.1: a cache line is the unit of evictions).
#[derive(Debug)]
pub struct WholeLines {
    /// The memories.
    pub memory: MemorySystem,
    whole: ByteMask,
    /// What is written now is non-temporal.
    pub in_parts: bool,
}

impl WholeLines {
    /// In front of `memory`, lines of `line` bytes (32 to 128).
    pub fn new(memory: MemorySystem, line: u64) -> Self {
        Self {
            memory,
            whole: ByteMask::MAX >> (128 - line.clamp(1, 128)),
            in_parts: false,
        }
    }
}

impl MemoryPort for WholeLines {
    #[inline]
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8) {
        self.memory.read(core, at, line)
    }

    #[inline]
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time {
        let bytes = if self.in_parts { bytes } else { self.whole };
        self.memory.write(core, at, line, bytes)
    }

    #[inline]
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.memory.upgrade(core, at, line)
    }
}
