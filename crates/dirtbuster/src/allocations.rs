//! Which allocation an address belongs to.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use prestore_trace::SiteId;

/// The live allocations of a process: as much memory as the program has allocations.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    by_start: BTreeMap<u64, (u64, SiteId)>,
    /// Addresses around the one that was asked for last, and the answer for all of them.
    last: Cell<Option<(u64, u64, SiteId)>>,
}

impl Allocations {
    /// `size` bytes at `start` were handed out to the caller at `site`.
    pub(crate) fn allocate(&mut self, start: u64, size: u64, site: SiteId) {
        self.last.set(None);
        self.by_start
            .insert(start, (start.saturating_add(size), site));
    }

    /// The allocation at `start` was returned.
    pub(crate) fn free(&mut self, start: u64) {
        self.last.set(None);
        self.by_start.remove(&start);
    }

    /// Who allocated what holds `addr`; [`SiteId::NONE`]: not known. Where an allocator's own
    /// pool holds it too, the innermost one.
    #[inline]
    pub(crate) fn site(&self, addr: u64) -> SiteId {
        if let Some((start, end, site)) = self.last.get()
            && (start..end).contains(&addr)
        {
            return site;
        }
        let (around, site) = self.look_up(addr);
        self.last.set(Some((around.start, around.end, site)));
        site
    }

    /// The same, and which addresses around have the same answer.
    fn look_up(&self, addr: u64) -> (Range<u64>, SiteId) {
        let next =
            (self.by_start.range(addr.saturating_add(1)..).next()).map_or(u64::MAX, |a| *a.0);
        let before = self.by_start.range(..=addr).rev().take(NESTED);
        let mut start = 0;
        for (number, (&from, &(end, site))) in before.enumerate() {
            if number == 0 {
                start = from;
            }
            if addr < end {
                return (start..next.min(end), site);
            }
            start = start.max(end);
        }
        (start..next, SiteId::NONE)
    }
}

/// Allocations before `addr` that are looked at: pools (`mmap`) hold many small ones, and what
/// they hold is to be found behind those.
const NESTED: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_allocation_is_found() {
        let mut a = Allocations::default();
        a.allocate(0x1000, 0x1000, SiteId(1));
        a.allocate(0x1100, 0x10, SiteId(2));
        assert_eq!(a.site(0x1108), SiteId(2));
        assert_eq!(a.site(0x1110), SiteId(1));
        a.free(0x1100);
        assert_eq!(a.site(0x1108), SiteId(1));
        assert_eq!(a.site(0xfff), SiteId::NONE);
    }

    #[test]
    fn what_was_asked_before_makes_no_difference() {
        let mut a = Allocations::default();
        for n in 0..6 {
            a.allocate(0x1000 + n * 0x40, 0x20, SiteId(n as u32));
        }
        a.allocate(0x800, 0x2000, SiteId(7));
        a.allocate(0x1110, 0x8, SiteId(8));
        for first in (0x7f0..0x2810).step_by(8) {
            a.site(first);
            for addr in (0x7f0..0x2810).step_by(8) {
                assert_eq!(a.site(addr), a.look_up(addr).1, "{first:x} {addr:x}");
            }
        }
        assert_eq!((a.site(0x1114), a.site(0x1118)), (SiteId(8), SiteId(4)));
        a.free(0x1110);
        assert_eq!(a.site(0x1114), SiteId(4));
    }
}
