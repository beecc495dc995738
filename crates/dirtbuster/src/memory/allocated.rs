//! What an allocating call writes itself (`calloc` clears, `realloc` copies): before it returns, the memory is nobody's, or part of
//! what the allocator has taken it from.

use prestore_trace::SiteId;

use super::Memory;
use crate::lines::{LINE, LINE_SHIFT, RegionHint};

/// Lines without such a context at most, one after the other, behind which no more is looked for.
const APART: u32 = 8;

impl Memory {
    /// The `size` bytes at `addr` were allocated at `site`: contexts that `writers` wrote there are of that allocation.
    pub(crate) fn written_by_allocator(
        &mut self,
        addr: u64,
        size: u64,
        site: SiteId,
        writers: u32,
    ) {
        let end = addr.saturating_add(size);
        let mut line = addr >> LINE_SHIFT;
        let mut apart = 0;
        while line << LINE_SHIFT < end && apart < APART {
            let found = self.lines.find(RegionHint::default(), line);
            let owner = found.and_then(|i| self.lines.states[i].owner.as_context());
            line += 1;
            apart += 1;
            let Some(c) = owner else { continue };
            let context = self.contexts.get(c);
            let within = context.lo + LINE > addr && context.hi < end.saturating_add(LINE);
            if within && self.origins.get(context.origin).group == writers {
                line = line.max(context.hi.div_ceil(LINE));
                apart = 0;
                self.contexts.get_mut(c).allocation = site;
            }
        }
    }
}
