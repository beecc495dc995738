//! What the readings need to know of blocks, found out once each.

use std::sync::Arc;

use prestore_trace::EventKind;
use prestore_trace::block::{Block, BlockTable, RefMode};

/// Blocks that are known at once, of those that share a place the last one: a thread may execute any number of them, most of the
/// time few.
pub(super) const MOST: usize = 4096;

/// Addresses that a block accesses: a base, by its place among the block's values, and distances from it.
#[derive(Debug)]
struct Base {
    /// [`prestore_trace::block::NO_SLOT`]: none, the distances are addresses.
    slot: u16,
    distances: Box<[u64]>,
}

/// What a block does.
#[derive(Debug)]
pub(super) struct Known {
    id: u32,
    /// It has atomics.
    pub(super) atomics: bool,
    /// Nothing but plain references, fences and what else is one event each.
    pub(super) plain: bool,
    /// Events of an execution, where it is plain.
    pub(super) events: u64,
    /// Events up to and including the last that is work.
    pub(super) work: Option<u64>,
    bases: Box<[Base]>,
}

impl Known {
    fn of(block: &Block) -> Self {
        let atomic = |kind| kind == EventKind::AtomicRmw;
        let meets = |kind| matches!(kind, EventKind::Load | EventKind::Store);
        let idle = |kind| matches!(kind, EventKind::Load | EventKind::Fence(_));
        let mut bases: Vec<(u16, Vec<u64>)> = Vec::new();
        for r in block.refs.iter().filter(|r| meets(r.kind)) {
            let known = bases.iter().position(|(slot, _)| *slot == r.slot);
            let at = known.unwrap_or_else(|| {
                bases.push((r.slot, Vec::new()));
                bases.len() - 1
            });
            if !bases[at].1.contains(&r.disp) {
                bases[at].1.push(r.disp);
            }
        }
        let bases = bases.into_iter().map(|(slot, distances)| Base {
            slot,
            distances: distances.into(),
        });
        let last = block.refs.iter().rposition(|r| !idle(r.kind));
        Self {
            id: block.id,
            atomics: block.refs.iter().any(|r| atomic(r.kind)),
            plain: block.refs.iter().all(|r| r.mode == RefMode::Plain),
            events: block.refs.len() as u64,
            work: last.map(|at| at as u64 + 1),
            bases: bases.collect(),
        }
    }

    /// Does a whole execution with `values` load or store only where `elsewhere` says so? Of plain blocks.
    #[inline(always)]
    pub(super) fn all(&self, values: &[u64], elsewhere: impl Fn(u64) -> bool) -> bool {
        self.bases.iter().all(|of| {
            let base = values.get(usize::from(of.slot)).copied().unwrap_or(0);
            let mut all = true;
            for distance in &of.distances {
                all &= elsewhere(base.wrapping_add(*distance));
            }
            all
        })
    }
}

/// The blocks of the process that a thread is in.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    table: Arc<BlockTable>,
    known: Vec<Option<Box<Known>>>,
}

impl Blocks {
    /// From here on, those of `table`.
    pub(super) fn are(&mut self, table: &Arc<BlockTable>) {
        if !Arc::ptr_eq(&self.table, table) {
            self.table = Arc::clone(table);
            self.known.clear();
        }
    }

    /// What is known of `block`.
    #[inline(always)]
    pub(super) fn known(&mut self, block: &Block) -> &Known {
        let at = block.id as usize % MOST;
        if at >= self.known.len() {
            self.known.resize_with(at + 1, || None);
        }
        let known = &mut self.known[at];
        if known.as_ref().is_some_and(|known| known.id != block.id) {
            *known = None;
        }
        known.get_or_insert_with(|| Box::new(Known::of(block)))
    }
}
