//! How far caches that were empty have come.

use super::Hierarchy;
use super::level::Level;
use crate::MemoryPort;
use crate::doors::Probe;

/// How full the furthest cache is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Lines that came so far, and are still there; where it gets what a nearer cache throws out, those of that one are among
    /// them.
    pub lines: u64,
    /// Lines that it has room for.
    pub room: u64,
    /// Lines that it can have.
    pub of: u64,
    /// Lines that were read from memory so far, gone again or not.
    pub read: u64,
    /// Lines that came to nearer caches so far, from this one or from memory.
    pub nearer: u64,
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// How full the furthest level is.
    pub fn filled(&self) -> Filled {
        let Some((furthest, nearer)) = self.levels.split_last() else {
            return Filled::default();
        };
        let victims = !self.fills_on_miss(nearer.len());
        let before = nearer.last().filter(|_| victims);
        let count = |level: &Level| level.held().count() as u64;
        let up = |from_end: usize| {
            let boundary = self.counters.boundaries.iter().rev().nth(from_end);
            boundary.map_or(0, |b| b.up_lines)
        };
        let (held, of) = (count(furthest), furthest.lines());
        Filled {
            lines: held + before.map_or(0, count),
            room: of.saturating_sub(held),
            of,
            read: up(0),
            nearer: up(1),
        }
    }
}
