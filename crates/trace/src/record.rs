//! The dynamic side of a trace: what one thread executed, as a sequence of 64-bit words.
//!
//! A *record* is a header word and its payload words. The low half of the header is an id:
//! - below [`FIRST_BLOCK`]: one of the [`Special`] records; the high half is the payload's length
//!   in words, so that a reader can pass over what it does not know;
//! - from [`FIRST_BLOCK`] on: one execution of the [`crate::block::Block`] of that id in the
//!   thread's process; the payload is the block's dynamic values, its length is the block's.
//!
//! A header of zero ends the words of a buffer: buffers are handed out zeroed, so what a killed
//! program had written is readable up to its last record.

/// Ids below this are special records.
pub const FIRST_BLOCK: u32 = 64;

/// Ids of the special records, as written by the tracer's client.
pub mod id {
    /// End of the words (zeroed buffer).
    pub const END: u32 = 0;
    /// `pc`: the block execution just before this record stopped before the instruction at `pc`
    /// (a fault or a signal).
    pub const CUT: u32 = 1;
    /// `address, bytes, call-site pc, kind` (see [`super::AllocKind`]).
    pub const ALLOC: u32 = 2;
    /// `address, call-site pc`.
    pub const FREE: u32 = 3;
    /// `instructions`: executed but outside the recording's scope or window.
    pub const SKIP: u32 = 4;
    /// `ticks`: the time-stamp counter when the records that follow were begun.
    pub const TIME: u32 = 5;
    /// `ticks`: the time-stamp counter before a block execution that contains an atomic
    /// read-modify-write, and behind the atomic, which ends its block. Unlike [`TIME`], which begins a buffer, it divides nothing: it is
    /// there to order what threads hand over to each other.
    pub const STAMP: u32 = 6;
    /// `ticks`: the time-stamp counter when the thread was about to make a thread or a process.
    pub const SPAWN: u32 = 7;
    /// `address, bytes, offset, file, flags`: a file was mapped shared (behind the mapping's
    /// [`ALLOC`]); flags: bit 0, writable.
    pub const MAPPED: u32 = 8;
    /// `address, bytes`: `msync` has written the range back.
    pub const SYNCED: u32 = 9;
    /// `address, bytes, why, data…`: what memory holds, see [`crate::content::Content`].
    pub const CONTENT: u32 = 10;
    /// `number`: the thread goes on in this one of the windows that the run is divided into.
    pub const WINDOW: u32 = 11;
}

/// Flag of a [`id::MAPPED`] record.
const MAPPED_WRITABLE: u64 = 1;

/// Where an allocation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum AllocKind {
    /// The malloc family.
    Malloc = 0,
    /// C++ `operator new`.
    New = 1,
    /// `mmap` (anonymous or of a file) and `mremap`.
    Mmap = 2,
    /// `brk` moved up.
    Brk = 3,
}

/// A record that is no block execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Memory was handed out.
    Alloc {
        /// First byte.
        addr: u64,
        /// Bytes asked for.
        size: u64,
        /// Return address of the call in the caller of the allocator (absolute pc).
        caller: u64,
        /// Which allocator.
        kind: AllocKind,
    },
    /// Memory was returned.
    Free {
        /// First byte, as allocated.
        addr: u64,
        /// Return address of the call (absolute pc).
        caller: u64,
    },
    /// Instructions that were executed and not recorded.
    Skip {
        /// How many.
        instrs: u64,
    },
    /// Time-stamp counter.
    Time {
        /// Ticks of the constant-rate counter.
        ticks: u64,
    },
    /// Time-stamp counter before a block execution with an atomic, or behind the atomic.
    Stamp {
        /// Ticks of the constant-rate counter.
        ticks: u64,
    },
    /// The thread is about to make a thread or a process.
    Spawn {
        /// Ticks of the constant-rate counter.
        ticks: u64,
    },
    /// A file was mapped shared: stores to the range reach it.
    Mapped {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
        /// Where in the file it begins, bytes.
        offset: u64,
        /// The file, see [`crate::block::BlockTable::mapped_file`].
        file: u64,
        /// May it be written from the start?
        writable: bool,
    },
    /// `msync` has written a range back, synchronously.
    Synced {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// The thread goes on in another one of the windows that the run is divided into, where one of
    /// several is recorded.
    Window {
        /// The window's number, from the program's beginning.
        number: u64,
    },
    /// A record of a later schema.
    Unknown {
        /// Its id.
        id: u32,
    },
}

/// Makes a header word.
#[inline]
pub const fn header(id: u32, payload_words: u32) -> u64 {
    id as u64 | ((payload_words as u64) << 32)
}

impl Special {
    /// Reads a special record from its header's id and its payload.
    /// Payloads that are too short read as [`Special::Unknown`].
    pub fn parse(id: u32, payload: &[u64]) -> Self {
        match (id, payload) {
            (id::ALLOC, &[addr, size, caller, kind, ..]) => Self::Alloc {
                addr,
                size,
                caller,
                kind: match kind {
                    1 => AllocKind::New,
                    2 => AllocKind::Mmap,
                    3 => AllocKind::Brk,
                    _ => AllocKind::Malloc,
                },
            },
            (id::FREE, &[addr, caller, ..]) => Self::Free { addr, caller },
            (id::SKIP, &[instrs, ..]) => Self::Skip { instrs },
            (id::TIME, &[ticks, ..]) => Self::Time { ticks },
            (id::STAMP, &[ticks, ..]) => Self::Stamp { ticks },
            (id::SPAWN, &[ticks, ..]) => Self::Spawn { ticks },
            (id::MAPPED, &[addr, size, offset, file, flags, ..]) => Self::Mapped {
                addr,
                size,
                offset,
                file,
                writable: flags & MAPPED_WRITABLE != 0,
            },
            (id::WINDOW, &[number, ..]) => Self::Window { number },
            (id::SYNCED, &[addr, size, ..]) => Self::Synced { addr, size },
            _ => Self::Unknown { id },
        }
    }

    /// When what follows began, where the record tells: ticks of the constant-rate counter.
    pub fn ticks(self) -> Option<u64> {
        match self {
            Self::Time { ticks } | Self::Stamp { ticks } | Self::Spawn { ticks } => Some(ticks),
            _ => None,
        }
    }

    /// Appends the record to `words`. [`Special::Unknown`] appends nothing.
    pub fn write(self, words: &mut Vec<u64>) {
        match self {
            Self::Alloc {
                addr,
                size,
                caller,
                kind,
            } => words.extend([header(id::ALLOC, 4), addr, size, caller, kind as u64]),
            Self::Free { addr, caller } => words.extend([header(id::FREE, 2), addr, caller]),
            Self::Skip { instrs } => words.extend([header(id::SKIP, 1), instrs]),
            Self::Time { ticks } => words.extend([header(id::TIME, 1), ticks]),
            Self::Stamp { ticks } => words.extend([header(id::STAMP, 1), ticks]),
            Self::Spawn { ticks } => words.extend([header(id::SPAWN, 1), ticks]),
            Self::Mapped {
                addr,
                size,
                offset,
                file,
                writable,
            } => {
                let flags = if writable { MAPPED_WRITABLE } else { 0 };
                words.extend([header(id::MAPPED, 5), addr, size, offset, file, flags]);
            }
            Self::Synced { addr, size } => words.extend([header(id::SYNCED, 2), addr, size]),
            Self::Window { number } => words.extend([header(id::WINDOW, 1), number]),
            Self::Unknown { .. } => {}
        }
    }
}
