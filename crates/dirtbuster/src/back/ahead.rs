//! What executions ahead will write is brought into the cache.

use crate::access::Op;
use crate::batch::word;
use crate::lines::{LINE, Lines};
use crate::steps::Step;

/// Lines this far from each other come into the cache together, or in order.
const NEAR: u32 = 8;

/// A step that writes, or flushes, as far as looking ahead needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    disp: u64,
    slot: u16,
    /// Line around which the cache was filled last, low bits.
    fetched: u32,
}

/// Those of a run's steps.
pub(super) fn written(steps: &[Step]) -> impl Iterator<Item = Written> + '_ {
    let others = steps.iter().filter(|s| s.op != Op::Load);
    others.map(|s| Written {
        disp: s.disp,
        slot: s.slot,
        fetched: 0,
    })
}

impl Written {
    /// Brings the state of its line into the cache for an execution with these values, if it is not near the one before:
    /// then it is there, or comes by itself.
    #[inline(always)]
    pub(super) fn fetch(&mut self, lines: &Lines, values: &[u64]) {
        let addr = word(values, self.slot).wrapping_add(self.disp);
        let line = (addr / LINE) as u32;
        if line.wrapping_sub(self.fetched).wrapping_add(NEAR) > 2 * NEAR {
            self.fetched = line;
            lines.prefetch(addr);
        }
    }
}
