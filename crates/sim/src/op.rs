//! What a core executes: the simulator's form of a trace event.

use prestore_trace::{DemoteKind, FenceKind, FlushKind, SiteId};

/// One operation of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Instructions this thread had executed before this one (the trace's count, so that what a
    /// mechanism adds shares its neighbour's; a mechanism's own instructions are charged by the
    /// operation's issue cost).
    pub instr: u64,
    /// Byte address (region id for regions, number for hand-offs and locks, 0 for fences).
    pub addr: u64,
    /// Bytes touched; 0 for what acts on the line at `addr` or has no address. Of an allocation
    /// the lower half, see [`Op::bytes`].
    pub size: u32,
    /// Where in the code.
    pub site: SiteId,
    /// What.
    pub kind: OpKind,
    /// How many loads of this thread back the one is that it waits for, counted without its own: a load's address, or
    /// what a store writes, came from there. 0: from none that is near.
    pub after: u16,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Read.
    Load,
    /// Cached write.
    Store,
    /// Non-temporal write.
    NtStore,
    /// Atomic read-modify-write; a full fence too.
    Atomic,
    /// Write-back of a line.
    Flush(FlushKind),
    /// Demotion of a line.
    Demote(DemoteKind),
    /// Fence.
    Fence(FenceKind),
    /// A source region opens.
    RegionBegin,
    /// A source region closes.
    RegionEnd,
    /// What came before in this thread is handed to another thread: hand-off `addr` is published
    /// when the operation before this one is visible.
    HandOff,
    /// The next operation may not start before hand-off `addr` is published.
    Await,
    /// Lock `addr` is acquired by what follows, which may not begin before nobody else has it: the
    /// thread waits in simulated time, and who came first has it first. With [`SHARED_LOCK`] in `addr`: nobody else but
    /// those that share it.
    Acquire,
    /// Lock `addr` is released: another thread has it when the operation before this one is visible.
    Release,
    /// [`Op::bytes`] bytes at `addr` were handed out; the site is the call that asked for them
    /// ([`SiteId::NONE`] where it is not known). Executes nothing. A later allocation may lie
    /// inside an earlier one: what `malloc` hands out lies in what `mmap` or `brk` did.
    Alloc {
        /// Upper bits of the number of bytes.
        size_high: u16,
    },
    /// The allocation that starts at `addr` was returned. Executes nothing.
    Free,
}

impl OpKind {
    /// Does it begin only when all loads before it are done?
    #[inline]
    pub(crate) fn follows_loads(self) -> bool {
        match self {
            Self::NtStore | Self::Atomic | Self::Flush(_) | Self::Demote(_) => true,
            Self::Fence(kind) => kind != FenceKind::Store,
            _ => false,
        }
    }
}

impl Op {
    /// An allocation of `bytes` bytes at `addr`.
    pub fn alloc(instr: u64, addr: u64, bytes: u64, site: SiteId) -> Self {
        Self {
            instr,
            addr,
            size: bytes as u32,
            site,
            kind: OpKind::Alloc {
                size_high: u16::try_from(bytes >> 32).unwrap_or(u16::MAX),
            },
            after: 0,
        }
    }

    /// Bytes touched or allocated.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match self.kind {
            OpKind::Alloc { size_high } => u64::from(size_high) << 32 | u64::from(self.size),
            _ => u64::from(self.size),
        }
    }
}

const _: () = assert!(size_of::<Op>() == 32, "an operation is half a line");

/// In the number of a lock: it is acquired beside others that share it (readers, of readers and writers).
pub const SHARED_LOCK: u64 = 1 << 63;
