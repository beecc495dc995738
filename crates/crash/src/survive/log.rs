//! What happened to persistent memory, in order.

use std::ops::Range;

use crate::line::LINE;

/// Bytes that survive together.
pub const WORD: u64 = 8;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub happening: Happening,
    /// By whom: any number.
    pub thread: u32,
    /// What the log's maker wants to know of it: any number.
    pub tag: u32,
}

/// What may happen. Offsets are bytes from the beginning of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// Bytes were stored.
    Store {
        /// First byte.
        offset: u64,
        /// Where in the log they are, see [`Log::stored`].
        bytes: Range<usize>,
        /// Around the caches (non-temporal).
        around: bool,
    },
    /// A line is on its way to memory (`clwb`, `clflushopt`), once a fence of the thread has come.
    Flush {
        /// The line: offset by 64.
        line: u64,
    },
    /// A line is in memory (`clflush`).
    FlushNow {
        /// The line: offset by 64.
        line: u64,
    },
    /// What the thread has flushed, or stored around the caches, is in memory.
    Fence,
    /// A range is in memory (`msync`).
    Sync {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
}

/// What happened to one stretch of persistent memory. Memory: its bytes, those of all stores, and
/// 56 bytes an event.
#[derive(Clone, Debug, Default)]
pub struct Log {
    initial: Vec<u8>,
    events: Vec<Event>,
    stored: Vec<u8>,
    thread: u32,
    tag: u32,
}

impl Log {
    /// Nothing has happened yet to memory that holds `initial`.
    pub fn new(initial: Vec<u8>) -> Self {
        Self {
            initial,
            ..Self::default()
        }
    }

    /// Who does what is logged from now on; 0 at first.
    pub fn thread(&mut self, thread: u32) -> &mut Self {
        self.thread = thread;
        self
    }

    /// The [`Event::tag`] of what is logged from now on; 0 at first.
    pub fn tag(&mut self, tag: u32) -> &mut Self {
        self.tag = tag;
        self
    }

    /// `bytes` are stored at `offset`, by one instruction. What lies outside the memory is left out.
    pub fn store(&mut self, offset: u64, bytes: &[u8]) -> &mut Self {
        self.add_store(offset, bytes, false)
    }

    /// As [`Log::store`], around the caches.
    pub fn store_around(&mut self, offset: u64, bytes: &[u8]) -> &mut Self {
        self.add_store(offset, bytes, true)
    }

    fn add_store(&mut self, offset: u64, bytes: &[u8], around: bool) -> &mut Self {
        let room = (self.initial.len() as u64).saturating_sub(offset);
        let bytes = &bytes[..bytes.len().min(room as usize)];
        let at = self.stored.len();
        self.stored.extend_from_slice(bytes);
        let bytes = at..self.stored.len();
        if bytes.is_empty() {
            return self;
        }
        self.push(Happening::Store {
            offset,
            bytes,
            around,
        })
    }

    /// The line that `offset` is in is flushed (`clwb`): a fence has to follow.
    pub fn flush(&mut self, offset: u64) -> &mut Self {
        self.push(Happening::Flush {
            line: offset / LINE,
        })
    }

    /// The line that `offset` is in is flushed by an instruction that needs no fence (`clflush`).
    pub fn flush_now(&mut self, offset: u64) -> &mut Self {
        self.push(Happening::FlushNow {
            line: offset / LINE,
        })
    }

    /// A fence: `sfence`, `mfence` or an atomic read-modify-write.
    pub fn fence(&mut self) -> &mut Self {
        self.push(Happening::Fence)
    }

    /// `len` bytes at `offset` are written back (`msync`), whoever has stored them.
    pub fn sync(&mut self, offset: u64, len: u64) -> &mut Self {
        self.push(Happening::Sync { offset, len })
    }

    fn push(&mut self, happening: Happening) -> &mut Self {
        self.events.push(Event {
            happening,
            thread: self.thread,
            tag: self.tag,
        });
        self
    }

    /// What memory held before.
    pub fn initial(&self) -> &[u8] {
        &self.initial
    }

    /// All that happened.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The bytes of a store.
    pub fn stored(&self, bytes: &Range<usize>) -> &[u8] {
        self.stored.get(bytes.clone()).unwrap_or_default()
    }

    /// What memory holds when all has happened and no power was cut.
    pub fn complete(&self) -> Vec<u8> {
        let mut memory = self.initial.clone();
        for event in &self.events {
            if let Happening::Store { offset, bytes, .. } = &event.happening {
                let (at, bytes) = (*offset as usize, self.stored(bytes));
                memory[at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
        memory
    }
}
