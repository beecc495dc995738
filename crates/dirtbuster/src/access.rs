//! What a block's references are to the analysis.

use prestore_trace::block::Ref;
use prestore_trace::{EventKind, FenceKind, SiteId};

use crate::lines::{LINE, RegionHint};
use crate::oracle::SiteOracle;
use crate::runs::Workshop;

/// What is to be done for a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// A plain load of at most a line's bytes.
    Load,
    /// A plain store of at most a line's bytes.
    Store,
    /// An atomic: a fence, a load and a store.
    Atomic,
    /// A non-temporal store of at most a line's bytes.
    NtStore,
    /// A fence that orders stores.
    Fence,
    /// A flush of a line.
    Flush,
    /// A store to the frame (call, push, spill): no data; it is counted, and that is all.
    Frame,
    /// Anything else with an address; looked at in detail.
    Odd,
}

impl Op {
    /// A store that may be one write with others.
    pub(crate) fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::NtStore)
    }

    /// Something that is judged as it is: see `existing`.
    pub(crate) fn is_judged(self) -> bool {
        matches!(self, Self::NtStore | Self::Fence | Self::Flush)
    }
}

/// A reference of a block, as a thread executes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) disp: u64,
    pub(crate) hint: RegionHint,
    pub(crate) slot: u16,
    pub(crate) instr: u16,
    pub(crate) kind: EventKind,
    pub(crate) group: u32,
    /// Number among the thread's references that are looked at in detail, or that are judged.
    pub(crate) which: u32,
    pub(crate) size: u8,
    pub(crate) op: Op,
    /// Index of its streak, [`FOREIGN`] where its writes are not tracked.
    pub(crate) streak: u32,
}

/// "Not tracked".
pub(crate) const FOREIGN: u32 = u32::MAX;

/// What is needed of an access at the end only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessFacts {
    pub(crate) site: SiteId,
    pub(crate) group: u32,
    pub(crate) kind: EventKind,
    /// Number among the thread's that are judged, where it is one.
    pub(crate) judged: Option<u32>,
    /// To the frame: no data.
    pub(crate) frame: bool,
    /// Executions in blocks that were cut short, which the run's count does not hold.
    pub(crate) extra: u64,
    pub(crate) instr: u16,
    /// Bytes; `None`: they vary.
    pub(crate) size: Option<u8>,
}

/// The reference `r`.
pub(crate) fn access<O: SiteOracle>(
    r: &Ref,
    op: Op,
    group: Option<u32>,
    shop: &mut Workshop<'_, O>,
) -> (Access, AccessFacts) {
    let mut of = 0;
    if r.kind.writes() || op.is_judged() {
        // A block of a template of the library may have code of the user's inlined.
        let generic = shop.groups.classify(r.site, shop.sites).generic;
        of = match group.filter(|_| generic) {
            Some(caller) => caller,
            None => shop.groups.of_function(r.site, shop.sites),
        };
    }
    // A locked instruction on the frame guards nothing: it is how compilers spell a fence.
    let kind = match op {
        Op::Fence if r.kind == EventKind::AtomicRmw => EventKind::Fence(FenceKind::Full),
        _ => r.kind,
    };
    let access = Access {
        disp: r.disp,
        hint: RegionHint::default(),
        slot: r.slot,
        instr: r.instr,
        which: 0,
        kind,
        group: of,
        size: r.size.min(LINE as u32) as u8,
        op,
        streak: FOREIGN,
    };
    let facts = AccessFacts {
        site: r.site,
        group: of,
        kind,
        judged: None,
        frame: op == Op::Frame,
        extra: 0,
        instr: r.instr,
        size: (op != Op::Odd).then_some(access.size),
    };
    (access, facts)
}

/// What is to be done for `r`; `None`: nothing (demotes, region marks, `lfence`).
pub(crate) fn op_of(r: &Ref) -> Option<Op> {
    let plain = r.is_plain() && (1..=LINE as u32).contains(&r.size);
    match r.kind {
        EventKind::Load if plain => Some(Op::Load),
        EventKind::Store if plain && r.frame => Some(Op::Frame),
        EventKind::AtomicRmw if r.frame => Some(Op::Fence),
        EventKind::Store if plain => Some(Op::Store),
        EventKind::NtStore if plain => Some(Op::NtStore),
        EventKind::AtomicRmw if plain => Some(Op::Atomic),
        EventKind::Load | EventKind::Store | EventKind::NtStore | EventKind::AtomicRmw => {
            Some(Op::Odd)
        }
        EventKind::Flush(_) => Some(Op::Flush),
        kind if kind.orders_stores() => Some(Op::Fence),
        _ => None,
    }
}
