//! One address space as its tracked writes left it.
//!
//! # What a write belongs to
//! A write (see `steps`; its first store stands for all of them) is cut at line boundaries; for
//! each piece, in the order of this list, the first that holds decides:
//! 1. Its instruction wrote the same line last, the line still belongs to what it belonged to
//!    then, and the bytes are new to it: it *goes on*.
//! 2. It *joins* the streak its instruction wrote last, unless it goes back in it, else the one
//!    the line belongs to, else the one the line below, else the one the line above belongs to,
//!    provided the streak is of
//!    its thread and function (caller, for generic code), has not paused too long, and the write
//!    lands at its frontier: at most one line ahead and 64 bytes apart, at most two lines
//!    behind, or at its beginning; and the streak stays dense.
//!    It does not join the streak the line belongs to if it *repeats*: all its bytes have been
//!    written there already, by this very instruction on its way (it does not move ahead) or by
//!    others a while ago. Another instruction's overlap at once is no repetition: `memcpy` writes
//!    its tail over what the loop wrote, structures are cleared and then filled.
//! 3. It begins a streak.
//!
//! A streak within one line (a *single*) lives in the line's state, a longer one is a
//! [`crate::contexts::Context`]. A line that changes from one streak to another has been *re-written*, unless the
//! two wrote different bytes of it in the same thread without a read in between (a header by one
//! function, the body by another): then it is one writing, and the later streak's.

mod streaks;
mod writes;

use prestore_trace::SiteId;

use crate::allocations::Allocations;
use crate::clock::ThreadClock;
use crate::contexts::{Contexts, Limits};
use crate::lines::{LINE, LINE_SHIFT, LineState, Lines, Owner, RegionHint};
use crate::origins::Origins;

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

    /// Is anything of the `size` > 0 bytes at `addr` in a line that tracked code wrote and nobody
    /// has read since? Where the bytes cross pages it may be.
    #[inline(always)]
    pub(crate) fn unread(&mut self, hint: &mut RegionHint, addr: u64, size: u64) -> u64 {
        let page = self.lines.page(hint, addr);
        let first = (addr >> LINE_SHIFT) & 63;
        let last = ((addr & 0xfff) + size - 1) >> LINE_SHIFT;
        if last > 63 {
            return 1;
        }
        (self.lines.unread[page] >> first) & (u64::MAX >> (63 - (last - first)))
    }

    /// A read of `size` > 0 bytes at `addr`.
    #[inline(always)]
    pub(crate) fn read(&mut self, hint: &mut RegionHint, addr: u64, size: u64, at: Moment) {
        if self.unread(hint, addr, size) != 0 {
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

/// The stretch of a line from its first to its last byte in `mask`, which is not empty.
fn region(line: u64, mask: u64) -> (u64, u64) {
    let base = line << LINE_SHIFT;
    (
        base + u64::from(mask.trailing_zeros()),
        base + LINE - u64::from(mask.leading_zeros()),
    )
}
