//! One address space as its tracked writes left it.
//!
//! # What a write belongs to
//! An access is cut at line boundaries; for each piece, in the order of this list, the first
//! that holds decides:
//! 1. Its instruction wrote the same line last, the line still belongs to what it belonged to
//!    then, and the bytes are new to it: it *goes on*.
//! 2. It *joins* the streak its instruction wrote last, unless it goes back in it, else the one
//!    the line belongs to, else the one the line below, else the one the line above belongs to,
//!    provided the streak is of
//!    its thread and function (caller, for generic code), has not paused too long, and the write
//!    lands at its frontier: at most one line ahead and [`MAX_GAP`] bytes apart, at most two lines
//!    behind, or at its beginning; and the streak stays dense.
//!    It does not join the streak the line belongs to if it *repeats*: all its bytes have been
//!    written there already, by this very instruction on its way (it does not move ahead) or by
//!    others a while ago. Another instruction's overlap at once is no repetition: `memcpy` writes
//!    its tail over what the loop wrote, structures are cleared and then filled.
//! 3. It begins a streak.
//!
//! A streak within one line (a *single*) lives in the line's state, a longer one is a
//! [`Context`]. A line that changes from one streak to another has been *re-written*, unless the
//! two wrote different bytes of it in the same thread without a read in between (a header by one
//! function, the body by another): then it is one writing, and the later streak's.

use prestore_trace::SiteId;

use crate::allocations::Allocations;
use crate::clock::ThreadClock;
use crate::contexts::{Context, Contexts, Direction, Limits, MAX_GAP};
use crate::fences::PendingWrites;
use crate::lines::{LINE, LINE_SHIFT, LineState, Lines, Owner, RegionHint};
use crate::origins::Origins;
use crate::usage::Usage;

/// Instructions within which another instruction's write over the same bytes is an overlap.
/// An unrolled vector copy takes a dozen, clearing and filling a structure a few dozen.
const OVERLAP: u64 = 64;

/// Longest stretch that a context takes in when it comes upon it: eight of the widest vectors.
const CLOSE_UP: u64 = 512;

/// What an instruction in a thread wrote last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streak {
    pub(crate) hint: RegionHint,
    pub(crate) origin: u32,
    owner: Owner,
    /// Of the context, if `owner` is one.
    serial: u32,
    line: u64,
    addr: u64,
    /// When, plus one; 0: never.
    last: u64,
    /// Number of the pending write.
    pending: u64,
}

impl Streak {
    pub(crate) fn new(origin: u32) -> Self {
        Self {
            hint: RegionHint::default(),
            origin,
            owner: Owner::NONE,
            serial: 0,
            line: u64::MAX,
            addr: 0,
            last: 0,
            pending: 0,
        }
    }
}

/// Who acts, at which instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) thread: u32,
    pub(crate) now: u64,
}

/// One piece of a write: within one line.
#[derive(Clone, Copy)]
struct Piece {
    lo: u64,
    hi: u64,
    line: u64,
    bits: u64,
    page: usize,
    state: usize,
    hint: RegionHint,
    writer: u32,
    at: Moment,
}

/// A streak that a write might join, and the line that tells of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Candidate {
    owner: Owner,
    line: u64,
    state: usize,
}

/// Lines, contexts and origins of a process.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) lines: Lines,
    pub(crate) contexts: Contexts,
    pub(crate) origins: Origins,
    pub(crate) allocations: Allocations,
    /// By thread index.
    pub(crate) clocks: Vec<ThreadClock>,
    limits: Limits,
}

#[inline(always)]
fn bits_of(addr: u64, size: u64) -> u64 {
    (u64::MAX >> (LINE - size)) << (addr % LINE)
}

impl Memory {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            lines: Lines::default(),
            contexts: Contexts::default(),
            origins: Origins::default(),
            allocations: Allocations::default(),
            clocks: Vec::new(),
            limits,
        }
    }

    /// A read of `size` > 0 bytes at `addr`.
    #[inline(always)]
    pub(crate) fn read(&mut self, hint: &mut RegionHint, addr: u64, size: u64, at: Moment) {
        let page = self.lines.page(hint, addr);
        let first = (addr >> LINE_SHIFT) & 63;
        let last = ((addr & 0xfff) + size - 1) >> LINE_SHIFT;
        let unread = self.lines.unread[page];
        let many = last > first + 1 || last > 63;
        if many || ((unread >> first) | (unread >> last)) & 1 != 0 {
            self.read_lines(hint, addr, size, at);
        }
    }

    #[inline(never)]
    fn read_lines(&mut self, hint: &mut RegionHint, addr: u64, size: u64, at: Moment) {
        let last = addr.saturating_add(size - 1) >> LINE_SHIFT;
        for line in addr >> LINE_SHIFT..=last {
            let page = self.lines.page(hint, line << LINE_SHIFT);
            if self.lines.unread[page] >> (line & 63) & 1 == 0 {
                continue;
            }
            self.lines.clear_unread(page, line);
            let i = self.lines.state(page, line << LINE_SHIFT);
            let state = self.lines.states[i];
            let distance = self.distance(&state, at);
            self.lines.states[i].reread = u32::try_from(distance + 1).unwrap_or(u32::MAX);
            if let Some(c) = state.owner.as_context() {
                let context = self.contexts.get_mut(c);
                context.usage.read_after(distance, &self.limits.thresholds);
            }
        }
    }

    /// Instructions from a line's last write to `at`.
    fn distance(&self, state: &LineState, at: Moment) -> u64 {
        let origin = match (state.owner.as_single(), state.owner.as_context()) {
            (Some(o), _) => o,
            (_, Some(c)) => self.contexts.get(c).origin,
            _ => return 0,
        };
        let writer = self.origins.get(origin).thread;
        if writer == at.thread {
            return at.now - state.time;
        }
        let clock = |t: u32| &self.clocks[t as usize];
        let read = at.now + clock(at.thread).lead();
        read.saturating_sub(clock(writer).virtual_at(state.time))
    }

    /// A write of `size` > 0 bytes at `addr` by tracked code.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        if addr % LINE + size <= LINE {
            self.write_piece(streak, pending, addr, size, at);
        } else {
            self.write_pieces(streak, pending, addr, size, at);
        }
    }

    #[inline(never)]
    fn write_pieces(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        let end = addr.saturating_add(size);
        let mut lo = addr;
        while lo < end {
            let hi = ((lo | (LINE - 1)).saturating_add(1)).min(end);
            self.write_piece(streak, pending, lo, hi - lo, at);
            lo = hi;
        }
    }

    #[inline(always)]
    fn write_piece(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        let page = self.lines.page(&mut streak.hint, addr);
        let i = self.lines.state(page, addr);
        let state = &mut self.lines.states[i];
        let (line, bits) = (addr >> LINE_SHIFT, bits_of(addr, size));
        if streak.line == line && state.owner == streak.owner && state.mask & bits == 0 {
            let same = match state.owner.as_context() {
                None => true,
                Some(c) => {
                    let context = self.contexts.get_mut(c);
                    let same = context.serial == streak.serial;
                    if same {
                        context.lo = context.lo.min(addr);
                        context.hi = context.hi.max(addr + size);
                        context.covered += size;
                        context.last = at.now;
                    }
                    same
                }
            };
            if same {
                state.mask |= bits;
                state.time = at.now;
                streak.addr = addr;
                streak.last = at.now + 1;
                if !pending.touch(streak.pending, at.now) {
                    let fences = &mut self.origins.get_mut(streak.origin).fences;
                    streak.pending = pending.push(streak.origin, at.now, fences);
                }
                return;
            }
        }
        let piece = Piece {
            lo: addr,
            hi: addr + size,
            line,
            bits,
            page,
            state: i,
            hint: streak.hint,
            writer: 0,
            at,
        };
        self.place(streak, piece);
        let fences = &mut self.origins.get_mut(streak.origin).fences;
        streak.pending = pending.push(streak.origin, at.now, fences);
    }

    /// Finds what the piece belongs to.
    #[inline(never)]
    fn place(&mut self, streak: &mut Streak, mut p: Piece) {
        p.writer = self.origins.get(streak.origin).writer;
        let owner = match self.own_context(streak, &p) {
            // It moves ahead there, so it repeats nothing.
            Some(c) => {
                self.extend(c, streak.origin, &p);
                streak.owner
            }
            None => self.search(streak, &p),
        };
        streak.owner = owner;
        streak.serial = owner
            .as_context()
            .map_or(0, |c| self.contexts.get(c).serial);
        streak.line = p.line;
        streak.addr = p.lo;
        streak.last = p.at.now + 1;
    }

    /// The context that the instruction wrote last, if it moves on in it: an instruction that
    /// goes back begins anew.
    #[inline(always)]
    fn own_context(&self, streak: &Streak, p: &Piece) -> Option<u32> {
        let c = streak.owner.as_context()?;
        let context = self.contexts.get(c);
        let ahead = match context.direction {
            Direction::Up => p.lo > streak.addr,
            Direction::Down => p.lo < streak.addr,
        };
        let admits = ahead
            && context.serial == streak.serial
            && context.admits(p.lo, p.hi, p.at.now, &self.limits);
        admits.then_some(c)
    }

    fn search(&mut self, streak: &Streak, p: &Piece) -> Owner {
        let here = Candidate {
            owner: self.lines.states[p.state].owner,
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
            c.owner != Owner::NONE && !barred && self.admits(c, p)
        };
        if let Some(c) = self.own_single(streak, p)
            && joinable(c)
        {
            return self.join(c, streak.origin, p);
        }
        if joinable(here) {
            return self.join(here, streak.origin, p);
        }
        for line in [p.line.wrapping_sub(1), p.line.wrapping_add(1)] {
            if let Some(c) = self.at(line, p.hint)
                && joinable(c)
            {
                return self.join(c, streak.origin, p);
            }
        }
        self.begin(streak.origin, p)
    }

    /// The single that the instruction wrote last, if it is still what it was.
    #[inline]
    fn own_single(&self, streak: &Streak, p: &Piece) -> Option<Candidate> {
        streak.owner.as_single()?;
        if p.line.abs_diff(streak.line) > 1 {
            return None;
        }
        let state = self.lines.find(p.hint, streak.line)?;
        let s = &self.lines.states[state];
        (s.owner == streak.owner && s.start < streak.last).then_some(Candidate {
            owner: s.owner,
            line: streak.line,
            state,
        })
    }

    #[inline]
    fn at(&self, line: u64, hint: RegionHint) -> Option<Candidate> {
        let state = self.lines.find(hint, line)?;
        let owner = self.lines.states[state].owner;
        Some(Candidate { owner, line, state })
    }

    /// Does the piece write again what the line's streak has written?
    fn repeats(&self, streak: &Streak, p: &Piece) -> bool {
        let s = &self.lines.states[p.state];
        if p.bits & !s.mask != 0 {
            return false;
        }
        let (own, start, down) = match (s.owner.as_single(), s.owner.as_context()) {
            (Some(_), _) => (
                streak.line == p.line && streak.owner == s.owner && s.start < streak.last,
                s.start,
                false,
            ),
            (_, Some(c)) => {
                let c = self.contexts.get(c);
                (
                    streak.owner == s.owner && streak.serial == c.serial,
                    c.start,
                    c.direction == Direction::Down,
                )
            }
            _ => return false,
        };
        if own {
            return if down {
                p.lo >= streak.addr
            } else {
                p.lo <= streak.addr
            };
        }
        start < streak.last || p.at.now.saturating_sub(s.time) > OVERLAP
    }

    /// May the piece join this streak?
    #[inline]
    fn admits(&self, c: Candidate, p: &Piece) -> bool {
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

    fn begin(&mut self, origin: u32, p: &Piece) -> Owner {
        let owner = Owner::single(origin);
        self.take(owner, origin, p);
        owner
    }

    fn join(&mut self, c: Candidate, origin: u32, p: &Piece) -> Owner {
        if let Some(at) = c.owner.as_context() {
            self.extend(at, origin, p);
            return c.owner;
        }
        let first = c.owner.as_single().unwrap_or(origin);
        if first != origin {
            self.origins.join(first, origin);
        }
        let s = &mut self.lines.states[c.state];
        if c.line == p.line {
            s.mask |= p.bits;
            s.time = p.at.now;
            return c.owner;
        }
        let mut context = single_as_context(c.line, s, first, p.writer, &self.limits);
        context.allocation = self.allocations.site(context.lo);
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
        s.owner = Owner::context(at);
        self.fill(at, origin, p);
        Owner::context(at)
    }

    /// Adds the piece to a context.
    #[inline]
    fn extend(&mut self, at: u32, origin: u32, p: &Piece) {
        let context = self.contexts.get_mut(at);
        context.grow(p.lo, p.hi, p.at.now);
        if context.recent != origin {
            context.recent = origin;
            let first = context.origin;
            self.origins.join(first, origin);
        }
        self.fill(at, origin, p);
    }

    /// Writes the piece's bytes for a context.
    fn fill(&mut self, at: u32, origin: u32, p: &Piece) {
        let owner = self.lines.states[p.state].owner;
        if owner != Owner::context(at) && owner != Owner::NONE {
            self.take_in(at, p.line, p.hi - p.lo, p);
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
        let Some(found) = self.at(line, p.hint) else {
            return;
        };
        if found.owner != Owner::NONE {
            self.take_in_streak(at, found, pending, p);
        }
    }

    #[inline(never)]
    fn take_in_streak(&mut self, at: u32, found: Candidate, pending: u64, p: &Piece) {
        let context = *self.contexts.get(at);
        let s = &self.lines.states[found.state];
        let other = match (found.owner.as_single(), found.owner.as_context()) {
            (Some(_), _) if s.start < context.start => return,
            (Some(o), _) => {
                let writer = self.origins.get(o).writer;
                single_as_context(found.line, s, o, writer, &self.limits)
            }
            (_, Some(c)) if c != at => *self.contexts.get(c),
            _ => return,
        };
        let (lo, hi) = (context.lo.min(other.lo), context.hi.max(other.hi));
        let above = other.lo.saturating_sub(context.hi);
        let below = context.lo.saturating_sub(other.hi);
        let covered = context.covered + other.covered + pending;
        if other.writer != p.writer
            || other.start < context.start
            || other.hi - other.lo > CLOSE_UP
            || above.max(below) > MAX_GAP
            || !self.limits.dense(covered, hi - lo)
        {
            return;
        }
        for line in other.lo >> LINE_SHIFT..=(other.hi - 1) >> LINE_SHIFT {
            if let Some(c) = self.at(line, p.hint).filter(|c| c.owner == found.owner) {
                self.lines.states[c.state].owner = Owner::context(at);
            }
        }
        if let Some(c) = found.owner.as_context() {
            self.contexts.dissolve(c);
        }
        self.origins.join(context.origin, other.origin);
        let context = self.contexts.get_mut(at);
        (context.lo, context.hi) = (lo, hi);
        context.covered += other.covered;
        context.owned += other.owned;
        context.usage.merge(&other.usage);
    }

    /// The line becomes `owner`'s with this piece as its first write.
    fn take(&mut self, owner: Owner, origin: u32, p: &Piece) {
        let old = self.lines.states[p.state];
        if old.owner != Owner::NONE {
            self.part(&old, Some(p), p.at);
        } else if old.mask == 0 && owner.as_single().is_some() {
            let site = self.allocations.site(p.lo);
            if site != SiteId::NONE {
                *self.origins.allocations.entry((origin, site)).or_default() += p.hi - p.lo;
            }
        }
        self.lines.states[p.state] = LineState {
            time: p.at.now,
            start: p.at.now,
            mask: p.bits,
            owner,
            reread: 0,
        };
        self.lines.set_unread(p.page, p.line);
    }

    /// The line's streak loses it to a write at `at`: to `p`, or to code that is not tracked.
    fn part(&mut self, old: &LineState, p: Option<&Piece>, at: Moment) {
        let distance = self.distance(old, at);
        let thresholds = &self.limits.thresholds;
        let apart = |p: &Piece, region: Option<(u64, u64)>| match region {
            None => p.bits & old.mask == 0,
            Some((lo, hi)) => p.lo >= hi || p.hi <= lo,
        };
        let shared = |thread: u32, region: Option<(u64, u64)>| {
            p.is_some_and(|p| {
                thread == at.thread
                    && old.reread == 0
                    && distance <= thresholds.max_pause
                    && apart(p, region)
            })
        };
        if let Some(o) = old.owner.as_single() {
            let origin = self.origins.get_mut(o);
            origin.scattered_bytes += u64::from(old.mask.count_ones());
            if shared(origin.thread, None) {
                return;
            }
            origin.scattered.lines += 1;
            if old.reread > 0 {
                origin
                    .scattered
                    .read_after(u64::from(old.reread - 1), thresholds);
            }
            origin.scattered.written_after(distance, thresholds);
        } else if let Some(c) = old.owner.as_context() {
            let context = self.contexts.get_mut(c);
            let thread = self.origins.get(context.origin).thread;
            if shared(thread, Some((context.lo, context.hi))) {
                context.usage.lines -= 1;
            } else {
                context.usage.written_after(distance, thresholds);
            }
            context.owned -= 1;
            if context.owned == 0
                && let Some(closed) = self.contexts.bereave(c)
            {
                self.origins.close(&closed, thresholds);
            }
        }
    }

    /// A write of `size` > 0 bytes at `addr` by code that is not tracked.
    pub(crate) fn foreign_write(
        &mut self,
        hint: &mut RegionHint,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        let last = addr.saturating_add(size - 1) >> LINE_SHIFT;
        for line in addr >> LINE_SHIFT..=last {
            let page = self.lines.page(hint, line << LINE_SHIFT);
            let Some(i) = self.lines.find(*hint, line) else {
                continue;
            };
            let old = self.lines.states[i];
            if old.owner == Owner::NONE {
                continue;
            }
            self.part(&old, None, at);
            self.lines.states[i].owner = Owner::NONE;
            self.lines.clear_unread(page, line);
        }
    }

    /// The run is over: what is still open ends.
    pub(crate) fn finish(&mut self) {
        let thresholds = self.limits.thresholds;
        for state in &self.lines.states {
            if let Some(o) = state.owner.as_single() {
                let origin = self.origins.get_mut(o);
                origin.scattered_bytes += u64::from(state.mask.count_ones());
                origin.scattered.lines += 1;
                if state.reread > 0 {
                    let distance = u64::from(state.reread - 1);
                    origin.scattered.read_after(distance, &thresholds);
                }
            }
        }
        for context in self.contexts.iter() {
            self.origins.close(context, &thresholds);
        }
    }
}

/// A single in the form of a context, before it is one.
fn single_as_context(line: u64, s: &LineState, origin: u32, writer: u32, l: &Limits) -> Context {
    let (lo, hi) = region(line, s.mask);
    let mut usage = Usage {
        lines: 1,
        ..Usage::default()
    };
    if s.reread > 0 {
        usage.read_after(u64::from(s.reread - 1), &l.thresholds);
    }
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
        usage,
    }
}

/// The stretch of a line from its first to its last byte in `mask`, which is not empty.
fn region(line: u64, mask: u64) -> (u64, u64) {
    let base = line << LINE_SHIFT;
    (
        base + u64::from(mask.trailing_zeros()),
        base + LINE - u64::from(mask.leading_zeros()),
    )
}
