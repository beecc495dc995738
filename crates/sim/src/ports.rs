//! The contracts between core, caches and memory.

use prestore_machine::MemoryType;
use prestore_trace::{FlushKind, LineAddr, SiteId};

use crate::Time;
use crate::doors::Asks;

/// Bytes of a line, bit 0 its first.
pub type ByteMask = u128;

/// A store, as it is named below the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Which of its thread's stores, non-temporal stores and atomics, in the order in which the core executes
    /// them. With its thread (the number of the core) it names a store; what a recording knows of its bytes
    /// stands beside. Where a mechanism rewrites the thread's operations, what it added is counted, too.
    pub number: u64,
    /// Where in the code.
    pub site: SiteId,
    /// The bytes of the line that it wrote.
    pub bytes: ByteMask,
}

/// What a probe tells the memory controllers long before a write comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// About which line.
    pub line: LineAddr,
    /// What probe and stage have agreed on: which of the predicted contents, a fingerprint.
    pub content: u64,
}

/// Why bytes were sent to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A cache needed the place of the line.
    Evicted,
    /// The line was flushed.
    Flushed,
    /// They pass the caches: non-temporal, write-combining, uncacheable.
    Around,
    /// Written through.
    Through,
}

impl Sent {
    /// Does the line come as a whole, whichever of its bytes are dirty (P0, section 4.1: a cache line is the
    /// unit of evictions)?
    #[inline]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Evicted | Self::Flushed)
    }
}

/// Where a request was served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
/// The same contract serves mock neighbours in the core's tests. What has a default is for neighbours behind
/// which a door is open ([`crate::Doors`]): where the constants say that none is, it is not called.
pub trait Below {
    /// Does anybody want to know the names of stores? Where not, `by` is empty, everywhere.
    const NAMES: bool = false;
    /// May requests be refused?
    const REFUSES: bool = false;
    /// Is there memory that is not write-back?
    const TYPES: bool = false;

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
    /// granted even if its data has not come. `by`: the stores, oldest first.
    fn write(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time;

    /// The same, if `core` owns the line; otherwise nothing happens.
    #[inline]
    fn write_owned(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Option<Time> {
        self.owned(core, line)
            .then(|| self.write(core, at, line, bytes, by))
    }

    /// Non-temporal data leaves a write-combining buffer, or a store goes to memory that is not cached. Copies
    /// in caches go (dirty bytes not overwritten are merged in). Answers when the memory controller has taken it.
    fn write_around(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time;

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

    /// The type of `line`'s memory, asked for by `core`.
    #[inline]
    fn memory_type(&mut self, core: u32, line: LineAddr) -> MemoryType {
        let _ = (core, line);
        MemoryType::WriteBack
    }

    /// A store to write-through memory: copies of the line change with it, other cores' go. Answers when the
    /// memory controller has taken it.
    fn write_through(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.write_around(core, at, line, bytes, by)
    }

    /// `core` reads `line` in memory; caches are not filled, and copies that they have go.
    fn load_around(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.load(core, at, line)
    }

    /// May `core` not have done to `line` what it `asks` now, because who has it refuses? Answers when it may ask
    /// again.
    #[inline]
    fn refused(&mut self, core: u32, at: Time, line: LineAddr, asks: Asks) -> Option<Time> {
        let _ = (core, at, line, asks);
        None
    }
}

/// What the caches see below them.
pub trait MemoryPort {
    /// A line is read by `core`. Answers when the data is at the last cache level, and the index of
    /// the memory that had it.
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8);

    /// Bytes of a line are written (evicted, flushed or non-temporal). Answers when the controller
    /// has taken them; the caller waits for that where something must (a full queue pushes back).
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask, why: Sent) -> Time;

    /// A probe of `core` tells the controllers something.
    #[inline]
    fn hint(&mut self, core: u32, at: Time, hint: Hint) {
        let _ = (core, at, hint);
    }

    /// A flush of `line` that has nothing to write asks the memory controller all the same: answers when that has
    /// answered.
    fn ask(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        let _ = (core, line);
        at
    }

    /// A change of `line`'s state to exclusive where the directory lives on the device: answers
    /// when the device has agreed. `at` where the directory lives on the chip.
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time;
}
