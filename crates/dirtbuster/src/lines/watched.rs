//! Lines that other processes may have, too.

use std::ops::Range;

use prestore_trace::block::SharedMemory;

use super::{GROUP_LINES, LINE, LINE_SHIFT, Lines, REGION_SHIFT, RegionHint};

/// Memory of which it is to be known whether tracked code writes there.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    memory: SharedMemory,
    is_written: bool,
}

impl Watched {
    /// A line is written for the first time of those of its group.
    pub(super) fn is_written(&mut self, line: u64) {
        if self.memory.is_empty() {
            return;
        }
        let first = line - line % GROUP_LINES as u64;
        let group = first << LINE_SHIFT..(first + GROUP_LINES as u64) << LINE_SHIFT;
        self.is_written |= self.memory.places(group).next().is_some();
    }
}

impl Lines {
    /// From now on it is to be known whether this is written.
    pub(crate) fn watch(&mut self, memory: SharedMemory) {
        self.watched.memory = memory;
    }

    /// What `other` watches is watched, and was written if it was there.
    pub(crate) fn watch_as(&mut self, other: &Self) {
        self.watched = other.watched.clone();
    }

    /// Has tracked code written what is watched, since it is?
    pub(crate) fn has_written_watched(&self) -> bool {
        self.watched.is_written
    }

    /// Lines that tracked code has written, of those that begin within `range`.
    pub(crate) fn owned_within(&self, range: &Range<u64>) -> impl Iterator<Item = u64> {
        let first = |region: u64| region << (REGION_SHIFT - LINE_SHIFT);
        let lines = (range.start >> LINE_SHIFT)..(range.end.div_ceil(LINE));
        let regions = self.regions.keys().map(move |&r| first(r)..first(r + 1));
        let within = regions.map(move |r| r.start.max(lines.start)..r.end.min(lines.end));
        within.flatten().filter(|&line| {
            let state = self.find(RegionHint::default(), line);
            state.is_some_and(|i| self.states[i].is_owned())
        })
    }
}
