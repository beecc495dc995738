//! The events of a trace (design, section 3).

use crate::{SiteId, ThreadId};

/// How a cache line was asked to be written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FlushKind {
    /// x86 `clflush`: write back and invalidate, ordered with everything.
    Clflush,
    /// x86 `clflushopt`: write back and invalidate, ordered by fences only.
    Clflushopt,
    /// x86 `clwb`: write back, the line may stay.
    Clwb,
    /// Arm `dc civac`: clean and invalidate to the point of coherency.
    DcCivac,
    /// Arm `dc cvac`: clean to the point of coherency.
    DcCvac,
    /// Arm `dc cvap`: clean to the point of persistence.
    DcCvap,
}

/// How a cache line was asked to move to a farther level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DemoteKind {
    /// x86 `cldemote`.
    Cldemote,
    /// Arm `dc cvau`: clean to the point of unification.
    DcCvau,
}

/// Which accesses a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FenceKind {
    /// Stores (`sfence`, `dmb ishst`).
    Store,
    /// Loads (`lfence`, `dmb ishld`).
    Load,
    /// Everything (`mfence`, `dmb ish`, `dsb`).
    Full,
}

/// What an instruction, or the program, did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Read of `size` bytes.
    Load,
    /// Cached write of `size` bytes.
    Store,
    /// Non-temporal write (`movnt*`, `movdir64b`, `maskmov*`) of `size` bytes.
    NtStore,
    /// Atomic read-modify-write (`lock`-prefixed instructions, `xchg` with memory); a fence too.
    AtomicRmw,
    /// Write-back of the line at `addr`.
    Flush(FlushKind),
    /// Demotion of the line at `addr`.
    Demote(DemoteKind),
    /// Ordering of this thread's accesses. No address.
    Fence(FenceKind),
    /// A source region opens; `addr` holds its id.
    RegionBegin,
    /// A source region closes; `addr` holds its id.
    RegionEnd,
    /// `size` bytes at `addr` were allocated; the site is the allocator's caller.
    Alloc,
    /// The allocation at `addr` was returned.
    Free,
    /// First event of a thread.
    ThreadStart,
    /// Last event of a thread.
    ThreadEnd,
}

impl EventKind {
    /// Does it write memory through an instruction (stores of all sorts and atomics)?
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Store | Self::NtStore | Self::AtomicRmw)
    }

    /// Does it read memory through an instruction (loads and atomics)?
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, Self::Load | Self::AtomicRmw)
    }

    /// Has it fence semantics for pending stores (P0, 6.2.2: fences and atomics)?
    /// `lfence` does not wait for stores and is not one.
    #[inline]
    pub fn orders_stores(self) -> bool {
        matches!(
            self,
            Self::AtomicRmw | Self::Fence(FenceKind::Store | FenceKind::Full)
        )
    }
}

/// One event of one thread.
///
/// An instruction that touches two lines is one event; consumers split it. A `rep` string
/// instruction is one `Load` and/or one `Store` of all its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Who.
    pub thread: ThreadId,
    /// Instructions this thread had executed *before* this one.
    pub instr: u64,
    /// Where in the code.
    pub site: SiteId,
    /// What.
    pub kind: EventKind,
    /// Virtual byte address (region id for region events, 0 for fences and thread events).
    pub addr: u64,
    /// Bytes touched; the line size's worth is implied for flushes and demotes (size 0).
    pub size: u64,
    /// The bytes written, little-endian words padded with zeros, where the recording has them.
    pub value: Option<&'a [u64]>,
}
