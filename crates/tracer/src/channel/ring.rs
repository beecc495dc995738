//! One thread's ring of buffers.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::MmapMut;

use super::protocol::Consumer;
use super::{Tally, WIRE_VERSION};

const MAGIC: u64 = 0x474e_4952_4552_5350;
const HEADER: usize = 4096;
const MAX_SLOTS: u32 = 64;
const ENDED: usize = 28;
const PRODUCED: usize = 64;
const CONSUMED: usize = 128;
const WAITING: usize = 132;
const EXECUTED: usize = 136;
const EXECUTED_IN_ALL: usize = 144;
const USED: usize = 192;

/// The consuming end of a ring. The producer is the client in the traced thread.
pub(crate) struct RingReader {
    map: MmapMut,
    slots: u32,
    slot_words: usize,
    /// Of the thread's process.
    pub(crate) pid: u32,
    /// Kernel's thread id.
    pub(crate) tid: u32,
    /// Stamp of the process's files.
    pub(crate) stamp: u64,
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl RingReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // SAFETY: the client sized the file before it got this name, and never shortens it.
        let map = unsafe { MmapMut::map_mut(&file)? };
        // The mapping keeps the memory; the name is no longer needed.
        let _ = std::fs::remove_file(path);
        if map.len() < HEADER || map[..8] != MAGIC.to_le_bytes() {
            return Err(invalid("a thread's shared buffer is malformed"));
        }
        let field =
            |at: usize| u32::from_le_bytes([map[at], map[at + 1], map[at + 2], map[at + 3]]);
        let (version, pid, tid) = (field(8), field(12), field(16));
        let (slots, slot_words) = (field(20), field(24) as usize);
        let stamp = u64::from(field(32)) | u64::from(field(36)) << 32;
        if version != WIRE_VERSION
            || slots == 0
            || slots > MAX_SLOTS
            || map.len() < HEADER + slots as usize * slot_words * 8
        {
            return Err(invalid("a thread's shared buffer is of another version"));
        }
        Ok(Self {
            map,
            slots,
            slot_words,
            pid,
            tid,
            stamp,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        let at = self.map[offset..offset + 4].as_ptr();
        // SAFETY: aligned, inside the mapping; the client uses atomic operations on it too.
        unsafe { AtomicU32::from_ptr(at.cast_mut().cast()) }
    }

    fn count(&self, offset: usize) -> &AtomicU64 {
        let at = self.map[offset..offset + 8].as_ptr();
        // SAFETY: aligned, inside the mapping; the client only reads it.
        unsafe { AtomicU64::from_ptr(at.cast_mut().cast()) }
    }

    fn consumer(&self) -> Consumer<'_, AtomicU32> {
        Consumer {
            produced: self.word(PRODUCED),
            consumed: self.word(CONSUMED),
            waiting: self.word(WAITING),
            ended: self.word(ENDED),
        }
    }

    /// Has the thread handed over its last buffer?
    pub(crate) fn ended(&self) -> bool {
        self.consumer().ended()
    }

    /// What the thread has recorded and skipped.
    pub(crate) fn tally(&self) -> Tally {
        Tally::read(&self.map)
    }

    /// How many filled buffers wait.
    pub(crate) fn pending(&self) -> u32 {
        self.consumer().pending()
    }

    fn slot(&self, number: u32, words: usize) -> &[u64] {
        let at = HEADER + (number % self.slots) as usize * self.slot_words * 8;
        let bytes = &self.map[at..at + words * 8];
        // SAFETY: page-aligned start plus a multiple of 8; the client does not touch a buffer
        // that it has handed over until it is given back.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 8) }
    }

    /// The words of a buffer handed over.
    fn used(&self, number: u32) -> usize {
        let used = self.word(USED + 4 * (number % self.slots) as usize);
        (used.load(Ordering::Relaxed) as usize).min(self.slot_words)
    }

    /// The oldest filled buffer's words.
    pub(crate) fn front(&self) -> Option<&[u64]> {
        if self.pending() == 0 {
            return None;
        }
        let number = self.consumer().oldest();
        Some(self.slot(number, self.used(number)))
    }

    /// The buffer that was being filled when the thread's process died: readable up to a zero
    /// word. Only to be called when nobody writes any more.
    pub(crate) fn torn(&self) -> &[u64] {
        self.slot(self.consumer().filling(), self.slot_words)
    }

    /// Tells the thread how many instructions it and its process have executed, the oldest filled buffer included;
    /// before that is given back.
    pub(crate) fn tell(&self, executed: u64, in_all: u64) {
        self.count(EXECUTED).store(executed, Ordering::Relaxed);
        self.count(EXECUTED_IN_ALL).store(in_all, Ordering::Relaxed);
    }

    /// Gives the oldest filled buffer back, zeroed, so that a torn one can be told from it.
    pub(crate) fn release(&mut self) {
        let number = self.consumer().oldest();
        let at = HEADER + (number % self.slots) as usize * self.slot_words * 8;
        let used = self.used(number);
        self.map[at..at + used * 8].fill(0);
        self.consumer().give_back();
    }
}
