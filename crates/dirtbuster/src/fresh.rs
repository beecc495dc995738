//! Memory that is written for the first time, in pages that the kernel makes for it.
//!
//! The kernel zeroes an anonymous page when it is first written (and copies one that is private to a process): its lines are in
//! the core's cache then, all of them written. A store around the cache saves no fetch and adds a write-back, and a line that is
//! cleaned would have been written back once anyway. Where that happens once, it may be the beginning of a run, and the advice is for what
//! follows; a program that gives memory back and gets it anew, as `free` and `malloc` do with large blocks, has it each time. It is told from the sample of lines (`cores`): one that nobody has touched,
//! in a page that was written for the first time just before. Where a part of the run is not known, neither is that.

use std::collections::BTreeMap;

use crate::verdict::Evidence;
use crate::words::of;

/// Groups of lines that are first written between the first line of a page and another one of it, at most, if one writing
/// fills the page: its own, and those of other streams that are open.
const GROUPS_BETWEEN: usize = 256;

/// Sampled lines below which nothing is said: 256 KB.
const FEWEST: u64 = 16;

/// Of the sampled lines that were begun in sequential contexts: of how many it is known, how many were fresh, and of those, how
/// many in memory that the process had before, gave back and got anew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fresh {
    lines: u64,
    fresh: u64,
    anew: u64,
}

impl Fresh {
    pub(crate) fn begin(&mut self, fresh: bool, anew: bool) {
        self.lines += 1;
        self.fresh += u64::from(fresh);
        self.anew += u64::from(fresh && anew);
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.lines += o.lines;
        self.fresh += o.fresh;
        self.anew += o.anew;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.lines *= weight;
        self.fresh *= weight;
        self.anew *= weight;
    }

    /// Share of the lines that were fresh.
    pub(crate) fn share(&self) -> f64 {
        self.share_of(self.fresh)
    }

    /// Share of the lines that were so in memory that the process had before.
    pub(crate) fn share_anew(&self) -> f64 {
        self.share_of(self.anew)
    }

    fn share_of(&self, lines: u64) -> f64 {
        match self.lines < FEWEST {
            true => 0.0,
            false => of(lines, self.lines),
        }
    }
}

/// From this share of its lines on that were fresh, each was written here once: the others are those whose page another place
/// had begun.
const WRITTEN_ONCE_SHARE: f64 = 0.95;

impl Evidence<'_> {
    /// Was nearly all that it wrote in sequence written for the first time? Then no line of it was written here twice.
    pub(crate) fn is_written_once(&self) -> bool {
        self.fresh_share >= WRITTEN_ONCE_SHARE
    }
}

/// What is known of a process's memory besides what its code touches.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Shared mappings of files, start and end: their pages are the file's.
    files: BTreeMap<u64, u64>,
    /// Something was executed that was not recorded.
    gap: bool,
}

impl Known {
    /// As after a gap, with the same mappings.
    pub(crate) fn after_gap(self) -> Self {
        Self { gap: true, ..self }
    }

    pub(crate) fn gap(&mut self) {
        self.gap = true;
    }

    pub(crate) fn map_file(&mut self, start: u64, size: u64) {
        self.files.insert(start, start.saturating_add(size));
    }

    pub(crate) fn unmap(&mut self, start: u64) {
        self.files.remove(&start);
    }

    /// Is the line at `addr`, which is being written, fresh? `touched`: before. `groups`: of its page and of itself, in order of
    /// their first writing. `None`: not known.
    pub(crate) fn is_fresh(
        &self,
        addr: u64,
        touched: bool,
        groups: (usize, usize),
    ) -> Option<bool> {
        if touched || self.is_of_a_file(addr) {
            return Some(false);
        }
        if self.gap {
            return None;
        }
        Some(groups.1.saturating_sub(groups.0) <= GROUPS_BETWEEN)
    }

    fn is_of_a_file(&self, addr: u64) -> bool {
        let below = self.files.range(..=addr).next_back();
        below.is_some_and(|(_, &end)| addr < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_touched_is_fresh_unless_it_is_a_files_or_its_page_is_old() {
        let mut known = Known::default();
        known.map_file(0x10000, 0x2000);
        assert_eq!(known.is_fresh(0x8000, false, (5, 7)), Some(true));
        assert_eq!(known.is_fresh(0x8000, true, (5, 7)), Some(false));
        assert_eq!(known.is_fresh(0x8000, false, (5, 7000)), Some(false));
        assert_eq!(known.is_fresh(0x11fff, false, (5, 7)), Some(false));
        assert_eq!(known.is_fresh(0x12000, false, (5, 7)), Some(true));
        known.unmap(0x10000);
        assert_eq!(known.is_fresh(0x11fff, false, (5, 7)), Some(true));
        let known = known.after_gap();
        assert_eq!(known.is_fresh(0x8000, false, (5, 7)), None);
        assert_eq!(known.is_fresh(0x8000, true, (5, 7)), Some(false));
    }

    #[test]
    fn of_few_lines_nothing_is_said() {
        let mut fresh = Fresh::default();
        for _ in 1..FEWEST {
            fresh.begin(true, false);
        }
        assert_eq!(fresh.share(), 0.0);
        fresh.begin(true, false);
        assert_eq!((fresh.share(), fresh.share_anew()), (1.0, 0.0));
    }
}
