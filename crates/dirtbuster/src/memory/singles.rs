//! Writes of lone lines: most of what an interpreter stores, and whoever keeps where it is in memory.
//!
//! Variables are written over and over, fields of one line by functions in turns, words of tables at random. What such a write
//! belongs to takes fewer questions than what another one does.

use super::search::OVERLAP;
use super::{Candidate, Memory, Piece, Streak};
use crate::lines::Owner;

impl Memory {
    /// What the piece has joined or begun as `search` would have it, where that is a single in its line; `None`: it may be
    /// anything, and has done nothing yet. The line is not marked as flushed.
    #[inline(always)]
    pub(super) fn place_single(&mut self, streak: &Streak, p: &Piece) -> Option<Owner> {
        let s = &self.lines.states[p.state];
        let here = streak.line == p.line;
        // What the instruction wrote last comes first, if it is a context or beside.
        if streak.owner.as_context().is_some() || !here && p.line.abs_diff(streak.line) <= 1 {
            return None;
        }
        let single = s.owner.as_single().is_some();
        let own = here && streak.owner == s.owner && s.start < streak.last;
        // As `repeats` has it for singles.
        let repeats = p.bits & !s.mask == 0
            && match own {
                true => p.lo <= streak.addr,
                false => s.start < streak.last || p.at.now.saturating_sub(s.time) > OVERLAP,
            };
        if !single && p.bits & !s.mask == 0 {
            return None;
        }
        if !repeats {
            if self.is_writers(s.owner, p.writer) {
                let goes_on = single && p.at.now - s.time <= self.limits.max_pause;
                let line = Candidate {
                    owner: s.owner,
                    line: p.line,
                    state: p.state,
                };
                return goes_on.then(|| self.join(line, streak.origin, p));
            }
            if own {
                return None;
            }
        }
        let beside = [p.line.wrapping_sub(1), p.line.wrapping_add(1)];
        let joins = beside.into_iter().any(|line| {
            self.near(line, p)
                .is_some_and(|c| self.is_writers(c.owner, p.writer) && self.admits(c, p))
        });
        (!joins).then(|| self.begin(streak.origin, p))
    }
}
