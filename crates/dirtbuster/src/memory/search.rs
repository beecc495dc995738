//! What a piece of a write joins or begins, see [`super`].

use super::{Candidate, Memory, Piece, Streak, region};
use crate::contexts::{Direction, MAX_GAP};
use crate::lines::Owner;

/// Instructions within which another instruction's write over the same bytes is an overlap.
/// An unrolled vector copy takes a dozen, clearing and filling a structure a few dozen.
pub(super) const OVERLAP: u64 = 64;

impl Memory {
    /// The context that the instruction wrote last, if it moves on in it: an instruction that
    /// goes back begins anew.
    #[inline(always)]
    pub(super) fn own_context(&self, streak: &Streak, p: &Piece) -> Option<u32> {
        let c = streak.owner.as_context()?;
        let context = self.contexts.get(c);
        let ahead = match context.direction {
            Direction::Up => p.lo > streak.addr,
            Direction::Down => p.lo < streak.addr,
        };
        // Who joined without belonging there has no serial, and a context that is over has none either.
        let admits = ahead
            && streak.serial != 0
            && context.serial == streak.serial
            && context.admits(p.lo, p.hi, p.at.now, &self.limits);
        admits.then_some(c)
    }

    /// What the piece joins or begins, and whether its instruction belongs there.
    pub(super) fn search(&mut self, streak: &Streak, p: &Piece) -> (Owner, bool) {
        let here = Candidate {
            owner: self.lines.states[p.state].owner.bare(),
            line: p.line,
            state: p.state,
        };
        let barred = if self.repeats(streak, p) {
            here.owner
        } else {
            Owner::NONE
        };
        let joinable = |c: Candidate| {
            let barred = c.owner == barred && (c.line == p.line || c.owner.as_context().is_some());
            !barred && self.admits(c, p)
        };
        if let Some(c) = self.own_single(streak, p)
            && joinable(c)
        {
            return (self.join(c, streak.origin, p), true);
        }
        if self.is_writers(here.owner, p.writer) && joinable(here) {
            let belongs = self.whole_of_another(here.owner, streak, p).is_none();
            return (self.join(here, streak.origin, p), belongs);
        }
        let mut neighbours = [None; 2];
        let lines = [p.line.wrapping_sub(1), p.line.wrapping_add(1)];
        for (at, line) in lines.into_iter().enumerate() {
            if let Some(c) = self.near(line, p)
                && self.is_writers(c.owner, p.writer)
                && joinable(c)
            {
                match self.whole_of_another(c.owner, streak, p) {
                    None => return (self.join(c, streak.origin, p), true),
                    another => neighbours[at] = another,
                }
            }
        }
        for first in neighbours.into_iter().flatten() {
            self.origins.meet(first, streak.origin);
        }
        (self.begin(streak.origin, p), true)
    }

    /// Who began the context, if it is an array that other stores have written so far: where two loops write arrays that lie side by
    /// side, the second one begins where the first has stopped, and that is all that they have in common. The line that the
    /// two share stays the first one's. Stores that take turns are known by the lines that came to be the context's.
    fn whole_of_another(&self, owner: Owner, streak: &Streak, p: &Piece) -> Option<u32> {
        let context = self.contexts.get(owner.as_context()?);
        if context.hi - context.lo <= self.limits.thresholds.object_bytes {
            return None;
        }
        let wrote = self.wrote_in(streak, owner);
        let stranger = streak.owner.as_context().is_some() && streak.serial == 0;
        let shared_only = stranger && p.line.abs_diff(streak.line) <= 1;
        let same = |a, b| self.origins.root(a) == self.origins.root(b);
        let belongs = match wrote && shared_only {
            true => false,
            false => wrote || same(context.recent, streak.origin),
        };
        (!belongs).then_some(context.origin)
    }

    /// The single that the instruction wrote last, if it is still what it was.
    #[inline]
    fn own_single(&self, streak: &Streak, p: &Piece) -> Option<Candidate> {
        streak.owner.as_single()?;
        if p.line.abs_diff(streak.line) > 1 {
            return None;
        }
        let state = self.lines.near(p.hint, p.state, p.line, streak.line)?;
        let s = &self.lines.states[state];
        (s.owner.bare() == streak.owner && s.start < streak.last).then_some(Candidate {
            owner: streak.owner,
            line: streak.line,
            state,
        })
    }

    /// The streak of the line `line`, which is near the piece's.
    #[inline]
    pub(super) fn near(&self, line: u64, p: &Piece) -> Option<Candidate> {
        let state = self.lines.near(p.hint, p.state, p.line, line)?;
        let owner = self.lines.states[state].owner.bare();
        Some(Candidate { owner, line, state })
    }

    /// Does the piece write again what the line's streak has written?
    fn repeats(&self, streak: &Streak, p: &Piece) -> bool {
        let s = &self.lines.states[p.state];
        if p.bits & !s.mask != 0 {
            return false;
        }
        let (own, start, down, newest) = match (s.owner.as_single(), s.owner.as_context()) {
            (Some(_), _) => {
                let own = streak.line == p.line && streak.owner == s.owner;
                (own && s.start < streak.last, s.start, false, false)
            }
            (_, Some(c)) => {
                let c = self.contexts.get(c);
                let own = streak.owner == s.owner && streak.serial == c.serial;
                let down = c.direction == Direction::Down;
                // It has not written since the streak got there.
                let newest = c.is_newest(p.line) && streak.last <= c.last;
                (own || self.wrote_in(streak, s.owner), c.start, down, newest)
            }
            _ => return false,
        };
        if own {
            return if down {
                // The pieces of one write, which go up, are no way back.
                p.lo >= streak.addr && streak.last != p.at.now + 1
            } else {
                p.lo <= streak.addr
            };
        }
        !newest && start < streak.last || p.at.now.saturating_sub(s.time) > OVERLAP
    }

    /// Does the line that the instruction wrote last belong to `owner` by now, with what it wrote there?
    fn wrote_in(&self, streak: &Streak, owner: Owner) -> bool {
        let last = &self.lines.states[streak.state as usize];
        last.owner.bare() == owner.bare() && last.start < streak.last
    }

    /// Is it a streak of this writer's?
    #[inline(always)]
    pub(super) fn is_writers(&self, owner: Owner, writer: u32) -> bool {
        match (owner.as_single(), owner.as_context()) {
            (Some(o), _) => self.origins.get(o).writer == writer,
            (_, Some(c)) => self.contexts.get(c).writer == writer,
            _ => false,
        }
    }

    /// May the piece join this streak?
    #[inline]
    pub(super) fn admits(&self, c: Candidate, p: &Piece) -> bool {
        if let Some(at) = c.owner.as_context() {
            let context = self.contexts.get(at);
            return context.writer == p.writer
                && context.admits(p.lo, p.hi, p.at.now, &self.limits);
        }
        let Some(origin) = c.owner.as_single() else {
            return false;
        };
        let s = &self.lines.states[c.state];
        if self.origins.get(origin).writer != p.writer || p.at.now - s.time > self.limits.max_pause
        {
            return false;
        }
        if c.line == p.line {
            return true;
        }
        let (lo, hi) = region(c.line, s.mask);
        let gap = if lo > p.hi {
            lo - p.hi
        } else {
            p.lo.saturating_sub(hi)
        };
        gap <= MAX_GAP
            && self.limits.dense(
                u64::from(s.mask.count_ones()) + (p.hi - p.lo),
                hi.max(p.hi) - lo.min(p.lo),
            )
    }
}
