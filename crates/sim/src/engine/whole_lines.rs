//! Between caches and memory controllers.

use prestore_trace::LineAddr;

use super::accepted::{AcceptanceLog, Accepted};
use crate::memory::MemorySystem;
use crate::{ByteMask, MemoryPort, Time};

/// The memories behind caches that send whole lines, whichever bytes of them are dirty: only
/// non-temporal data comes in parts (P0, section 4.1: a cache line is the unit of evictions).
pub struct WholeLines<'a> {
    /// The memories.
    pub memory: MemorySystem,
    whole: ByteMask,
    /// What is written now is non-temporal.
    pub in_parts: bool,
    /// Who wants to know of what is accepted, and of which memories that persists.
    log: Option<(AcceptanceLog<'a>, Vec<bool>)>,
}

impl<'a> WholeLines<'a> {
    /// In front of `memory`, lines of `line` bytes (32 to 128).
    pub fn new(memory: MemorySystem, line: u64) -> Self {
        Self {
            memory,
            whole: ByteMask::MAX >> (128 - line.clamp(1, 128)),
            in_parts: false,
            log: None,
        }
    }

    /// `log` is told of what is accepted; `persistent` says of which memories that persists.
    pub fn log(&mut self, log: AcceptanceLog<'a>, persistent: Vec<bool>) {
        self.log = Some((log, persistent));
    }

    #[cold]
    fn note(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) {
        let memory = self.memory.memory_of(line);
        if let Some((log, persistent)) = &self.log {
            log(Accepted {
                at,
                core,
                line,
                bytes,
                memory,
                persisted: persistent.get(memory).copied().unwrap_or(false),
            });
        }
    }
}

impl MemoryPort for WholeLines<'_> {
    #[inline]
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8) {
        self.memory.read(core, at, line)
    }

    #[inline]
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time {
        let bytes = if self.in_parts { bytes } else { self.whole };
        let accepted = self.memory.write(core, at, line, bytes);
        if self.log.is_some() {
            self.note(core, accepted, line, bytes);
        }
        accepted
    }

    #[inline]
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.memory.upgrade(core, at, line)
    }
}
