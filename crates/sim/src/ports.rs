//! The contracts between core, caches and memory.

use prestore_trace::{FlushKind, LineAddr};

use crate::Time;

/// Bytes of a line, bit 0 its first.
pub type ByteMask = u128;

/// Where a request was served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedBy {
    /// Cache level, 0 the nearest.
    Cache(u8),
    /// Another core's private cache.
    Peer,
    /// Memory of this index.
    Memory(u8),
}

/// An answered request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// When the data (or the permission) is at the core.
    pub done: Time,
    /// Of a request for ownership: when it is granted, that is when the directory and all other cores have
    /// agreed. The data may come later.
    pub granted: Time,
    /// From where.
    pub by: ServedBy,
}

/// What a flush found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Modified in some cache.
    Dirty,
    /// In a cache, unmodified.
    Clean,
    /// In no cache.
    Absent,
}

/// An answered flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushed {
    /// When the memory controller has taken the line (or it is known that there is nothing to
    /// write): a fence waits for this.
    pub done: Time,
    /// What was found.
    pub state: LineState,
}

/// What a core sees below it: caches, coherence, memory. Line-granular: the core splits accesses.
///
/// The same contract serves mock neighbours in the core's tests.
pub trait Below {
    /// Core `core` reads `line`. Fills as the hierarchy says.
    fn load(&mut self, core: u32, at: Time, line: LineAddr) -> Served;

    /// Is `line` in the nearest cache of `core` with write permission (a store to it completes
    /// without asking anyone)? No state changes.
    fn owned(&self, core: u32, line: LineAddr) -> bool;

    /// Core `core` makes `line` its own (read for ownership; other copies go). `whole`: all its
    /// bytes will be overwritten, so that a hierarchy that can may leave out reading it.
    fn own(&mut self, core: u32, at: Time, line: LineAddr, whole: bool) -> Served;

    /// Core `core` writes `bytes` of `line`, which it owns (if it lost it meanwhile, the hierarchy
    /// takes it back). Answers when the write is done: visible to other cores, where stores leave once their line is
    /// granted even if its data has not come.
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time;

    /// Non-temporal data leaves a write-combining buffer. Copies in caches go (dirty bytes not
    /// overwritten are merged in). Answers when the memory controller has taken it.
    fn write_around(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time;

    /// Core `core` writes back `line`. `retain`: keep it where it is.
    fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed;

    /// Moves `line` from the private caches of `core` to the nearest shared level; answers when it
    /// is there. Nothing happens if it is not in them.
    fn demote(&mut self, core: u32, at: Time, line: LineAddr) -> Time;
}

/// What the caches see below them.
pub trait MemoryPort {
    /// A line is read by `core`. Answers when the data is at the last cache level, and the index of
    /// the memory that had it.
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8);

    /// Bytes of a line are written (evicted, flushed or non-temporal). Answers when the controller
    /// has taken them; the caller waits for that where something must (a full queue pushes back).
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time;

    /// A change of `line`'s state to exclusive where the directory lives on the device: answers
    /// when the device has agreed. `at` where the directory lives on the chip.
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time;
}
