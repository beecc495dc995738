//! What is counted of lines that move.

use prestore_sim::{ByteMask, MemoryPort};

use super::Reference;
use super::cache::Copy;

impl<M: MemoryPort> Reference<M> {
    /// A line crosses boundaries towards the core.
    pub fn count_up(&mut self, boundaries: std::ops::Range<usize>) {
        for boundary in boundaries {
            self.counters.boundaries[boundary].up_lines += 1;
        }
    }

    /// A line crosses a boundary towards memory.
    pub fn count_down(&mut self, boundary: usize, dirty: ByteMask) {
        let boundary = &mut self.counters.boundaries[boundary];
        boundary.down_lines += 1;
        boundary.down_bytes += u64::from(dirty.count_ones());
    }

    /// Bytes go to memory without the rest of their line.
    pub fn count_part(&mut self, bytes: ByteMask) {
        let last = self.last();
        self.count_down(last, bytes);
        let boundary = &mut self.counters.boundaries[last];
        boundary.part_lines += 1;
        boundary.part_bytes += u64::from(bytes.count_ones());
    }

    /// Dirty bytes of a nearer level go with those of a line that leaves `leaves`.
    pub fn count_joining(&mut self, level: usize, copy: &Copy, leaves: usize) {
        if copy.dirty != 0 {
            for boundary in level..leaves {
                self.count_down(boundary, copy.dirty);
            }
        }
    }

    /// A line leaves a level as a victim.
    pub fn count_victim(&mut self, level: usize, dirty: ByteMask) {
        let level = &mut self.counters.levels[level];
        if dirty == 0 {
            level.clean_evictions += 1;
        } else {
            level.dirty_evictions += 1;
        }
    }

    /// A line goes from private levels to the nearest shared one, or to memory, as a victim of the last of them would.
    pub fn count_private_victim(&mut self, line: u64, copies: &[(usize, Copy)]) {
        let level = self.last_private();
        let mut dirty = 0;
        for (nearer, copy) in copies {
            self.count_joining(*nearer, copy, level);
            dirty |= copy.dirty;
        }
        let is_there = self
            .nearest_shared()
            .is_some_and(|next| self.has(next, 0, line));
        if dirty != 0 || !is_there {
            self.count_down(level, dirty);
        }
    }
}
