//! How streaks begin, grow and meet, see [`super`].

use prestore_trace::SiteId;

use super::{Candidate, Memory, Piece, region};
use crate::contexts::{Context, Direction, MAX_GAP};
use crate::lines::{LINE, LINE_SHIFT, LineState, Owner};
use crate::turns::Place;
use crate::usage::Usage;

/// Longest stretch that a context takes in when it comes upon it: eight of the widest vectors.
const CLOSE_UP: u64 = 512;

impl Memory {
    pub(super) fn begin(&mut self, origin: u32, p: &Piece) -> Owner {
        let owner = Owner::single(origin);
        self.take(owner, origin, p);
        owner
    }

    pub(super) fn join(&mut self, c: Candidate, origin: u32, p: &Piece) -> Owner {
        if let Some(at) = c.owner.as_context() {
            self.extend(at, origin, p);
            return c.owner;
        }
        let first = c.owner.as_single().unwrap_or(origin);
        self.origins.meet(first, origin);
        let s = &mut self.lines.states[c.state];
        if c.line == p.line {
            s.mask |= p.bits;
            s.time = p.at.now;
            return c.owner;
        }
        let parted = p.fenced > s.time;
        let mut context = single_as_context(c.line, s, first, p.writer);
        // The first line may begin with what the allocator keeps before the data.
        context.allocation = match self.allocations.site(p.lo) {
            SiteId::NONE => self.allocations.site(context.lo),
            known => known,
        };
        context.direction = if c.line < p.line {
            Direction::Up
        } else {
            Direction::Down
        };
        context.lo = context.lo.min(p.lo);
        context.hi = context.hi.max(p.hi);
        context.last = p.at.now;
        context.recent = origin;
        let at = self.contexts.open(context);
        s.owner = Owner::context(at).as_flushed_as(s.owner);
        self.origins.get_mut(first).written().parted += u64::from(parted);
        self.fill(at, origin, p);
        Owner::context(at)
    }

    /// Adds the piece to a context.
    #[inline]
    pub(super) fn extend(&mut self, at: u32, origin: u32, p: &Piece) {
        let context = self.contexts.get_mut(at);
        if p.fenced > context.last && self.lines.states[p.state].owner != Owner::context(at) {
            self.origins.get_mut(context.origin).written().parted += 1;
        }
        context.grow(p.lo, p.hi, p.at.now);
        if context.recent != origin {
            context.recent = origin;
            let first = context.origin;
            self.origins.meet(first, origin);
        }
        self.fill(at, origin, p);
    }

    /// Writes the piece's bytes for a context.
    fn fill(&mut self, at: u32, origin: u32, p: &Piece) {
        let owner = self.lines.states[p.state].owner;
        if owner != Owner::context(at) && owner != Owner::NONE {
            self.take_in(at, p.line, p.hi - p.lo, p);
        }
        if owner == Owner::context(at) {
            self.cut(owner, p.state, p.line, p.fenced);
        }
        let s = &mut self.lines.states[p.state];
        let context = self.contexts.get_mut(at);
        if s.owner == Owner::context(at) {
            let fresh = p.bits & !s.mask;
            context.covered += u64::from(fresh.count_ones());
            s.mask |= p.bits;
            s.time = p.at.now;
        } else {
            context.covered += p.hi - p.lo;
            context.owned += 1;
            context.usage.lines += 1;
            self.take(Owner::context(at), origin, p);
        }
        let context = self.contexts.get(at);
        match context.direction {
            Direction::Up if context.hi == p.hi && p.hi.is_multiple_of(LINE) => {
                self.take_in(at, p.line.wrapping_add(1), 0, p);
            }
            Direction::Down if context.lo == p.lo && p.lo.is_multiple_of(LINE) => {
                self.take_in(at, p.line.wrapping_sub(1), 0, p);
            }
            _ => {}
        }
    }

    /// The context at `at` takes in the streak at `line`, if that began after the context did and
    /// they are close: `memcpy` writes the end of a middle-sized copy first, and the two halves
    /// meet. `pending` bytes between them are about to be written.
    #[inline]
    fn take_in(&mut self, at: u32, line: u64, pending: u64, p: &Piece) {
        let Some(found) = self.near(line, p) else {
            return;
        };
        if found.owner != Owner::NONE {
            self.take_in_streak(at, found, pending, p);
        }
    }

    #[inline]
    fn take_in_streak(&mut self, at: u32, found: Candidate, pending: u64, p: &Piece) {
        let began = match found.owner.as_context() {
            Some(c) if c == at => return,
            Some(c) => self.contexts.get(c).start,
            None => self.lines.states[found.state].start,
        };
        if began >= self.contexts.get(at).start {
            self.take_in_later_streak(at, found, pending, p);
        }
    }

    #[inline(never)]
    fn take_in_later_streak(&mut self, at: u32, found: Candidate, pending: u64, p: &Piece) {
        let context = *self.contexts.get(at);
        let other = match (found.owner.as_single(), found.owner.as_context()) {
            (Some(o), _) => {
                let s = &self.lines.states[found.state];
                let writer = self.origins.get(o).writer;
                single_as_context(found.line, s, o, writer)
            }
            (_, Some(c)) => *self.contexts.get(c),
            _ => return,
        };
        let (lo, hi) = (context.lo.min(other.lo), context.hi.max(other.hi));
        let above = other.lo.saturating_sub(context.hi);
        let below = context.lo.saturating_sub(other.hi);
        let covered = context.covered + other.covered + pending;
        if other.writer != p.writer
            || other.hi - other.lo > CLOSE_UP
            || above.max(below) > MAX_GAP
            || !self.limits.dense(covered, hi - lo)
        {
            return;
        }
        for line in other.lo >> LINE_SHIFT..=(other.hi - 1) >> LINE_SHIFT {
            if let Some(c) = self.near(line, p).filter(|c| c.owner == found.owner) {
                let owner = &mut self.lines.states[c.state].owner;
                *owner = Owner::context(at).as_flushed_as(*owner);
            }
        }
        if let Some(c) = found.owner.as_context() {
            self.contexts.dissolve(c);
        }
        self.origins.meet(context.origin, other.origin);
        let context = self.contexts.get_mut(at);
        (context.lo, context.hi) = (lo, hi);
        context.covered += other.covered;
        context.owned += other.owned;
        context.incomplete += other.incomplete;
        context.usage.merge(&other.usage);
    }
}

/// A single in the form of a context, before it is one.
fn single_as_context(line: u64, s: &LineState, origin: u32, writer: u32) -> Context {
    let (lo, hi) = region(line, s.mask);
    let mut usage = Usage::default();
    usage.lines = 1;
    if let Some(distance) = s.read_distance() {
        usage.read_after(distance, s.read_near());
    }
    usage.flushed = u64::from(s.owner.is_flushed());
    Context {
        lo,
        hi,
        covered: u64::from(s.mask.count_ones()),
        start: s.start,
        last: s.time,
        origin,
        writer,
        recent: origin,
        serial: 0,
        owned: 1,
        direction: Direction::Up,
        allocation: SiteId::NONE,
        line: line as u32,
        late: false,
        cut: !line as u32,
        incomplete: 0,
        place: Place::default(),
        slot: 0,
        usage,
    }
}
