//! Which allocation an address belongs to.

use std::collections::BTreeMap;

use prestore_trace::SiteId;

/// The live allocations of a process: as much memory as the program has allocations.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    by_start: BTreeMap<u64, (u64, SiteId)>,
}

impl Allocations {
    /// `size` bytes at `start` were handed out to the caller at `site`.
    pub(crate) fn allocate(&mut self, start: u64, size: u64, site: SiteId) {
        self.by_start
            .insert(start, (start.saturating_add(size), site));
    }

    /// The allocation at `start` was returned.
    pub(crate) fn free(&mut self, start: u64) {
        self.by_start.remove(&start);
    }

    /// Who allocated what holds `addr`; [`SiteId::NONE`]: not known. Where an allocator's own
    /// pool holds it too, the innermost one.
    pub(crate) fn site(&self, addr: u64) -> SiteId {
        self.by_start
            .range(..=addr)
            .rev()
            .take(NESTED)
            .find(|(_, a)| addr < a.0)
            .map_or(SiteId::NONE, |(_, a)| a.1)
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
}
