//! What the host is told ahead: which tables the simulator will need.

use crate::{Op, OpKind};

/// How far the host is told ahead what will be accessed: farther than a prefetcher of the simulated
/// machine runs ahead of a stream of full lines.
pub(super) const AHEAD: usize = 24;
/// Bytes of which one access is told: a line.
const ONCE: u64 = 64;
/// Blocks that are known to have been told of, as a power of two: a program goes back and forth between some.
const TOLD: u32 = 9;
/// The fraction of the golden ratio, in 2^-64: streams a power of two apart do not share a place.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Blocks of memory that were told of ahead, the last of those that share a place.
#[derive(Clone, Debug)]
pub(super) struct Ahead(Box<[u64; 1 << TOLD]>);

impl Default for Ahead {
    fn default() -> Self {
        Self(Box::new([u64::MAX; 1 << TOLD]))
    }
}

impl Ahead {
    /// The address that `op` accesses, if it was not answered before.
    #[inline(always)]
    pub(super) fn address(&mut self, op: &Op) -> Option<u64> {
        let accesses = matches!(op.kind, OpKind::Load | OpKind::Store | OpKind::Atomic);
        let block = op.addr / ONCE;
        let told = &mut self.0[(block.wrapping_mul(GOLDEN) >> (64 - TOLD)) as usize];
        if !accesses || block == *told {
            return None;
        }
        *told = block;
        Some(op.addr)
    }
}
