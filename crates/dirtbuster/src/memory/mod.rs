//! One address space as its tracked writes left it.
//!
//! # What a write belongs to
//! A write (see `steps`; its first store stands for all of them) is cut at line boundaries; for
//! each piece, from the lowest line up, or down where it goes on with what lies above it, in the order of this list, the first that holds decides:
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
//!    its tail over what the loop wrote, structures are cleared and then filled, values stored and then clipped.
//! 3. It begins a streak.
//!
//! A streak within one line (a *single*) lives in the line's state, a longer one is a
//! [`crate::contexts::Context`]. A line that changes from one streak to another has been *re-written*, unless the
//! two wrote different bytes of it in the same thread without a read in between (a header by one
//! function, the body by another): then it is one writing, and the later streak's.
//!
//! # What is a re-read
//! A line that was written is *re-read* with its first read since, whatever bytes; but as long as
//! its streak is at the line, and reads what it is about to write there (`a[i] += …`, the next
//! element), that is the same visit of the line and none.
//!
//! # What is taken
//! A line that was written is *taken* when another thread reads it for the first time since, or writes it. That its writer has
//! read it before changes nothing: see `own`.

mod advance;
mod allocated;
mod elsewhere;
mod flushes;
mod left_out;
mod own;
mod parting;
mod reads;
mod search;
mod singles;
mod streaks;
mod writes;

pub(crate) use advance::Ahead;
pub(crate) use elsewhere::Others;

use prestore_trace::SiteId;

use crate::allocations::Allocations;
use crate::clock::ThreadClock;
use crate::contexts::{Contexts, Limits};
use crate::cores::{Core, sample_of, sampled};
use crate::existing::Existing;
use crate::fences::PendingWrites;
use crate::fresh::Known;
use crate::lines::{LINE, LINE_SHIFT, LineState, Lines, Owner, RegionHint};
use crate::origins::Origins;
use own::Own;

/// What an instruction in a thread wrote last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streak {
    pub(crate) hint: RegionHint,
    pub(crate) origin: u32,
    owner: Owner,
    /// Of the context, if `owner` is one.
    serial: u32,
    line: u64,
    /// Where the line's unread bit and state are.
    page: u32,
    state: u32,
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
            page: 0,
            state: 0,
            addr: 0,
            last: 0,
            pending: 0,
        }
    }

    /// Is a write of `size` bytes at `addr` right below what it wrote last (`Some(true)`), or right above it (`Some(false)`)?
    #[inline]
    fn goes_down(&self, addr: u64, size: u64) -> Option<bool> {
        let end = addr.saturating_add(size);
        let down = end <= self.addr && self.addr - end < size;
        let up = self.addr < addr && addr - self.addr <= 2 * LINE;
        (self.last > 0 && (down || up)).then_some(down)
    }

    /// The line that it wrote last.
    #[inline(always)]
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Does its last write wait for a fence?
    #[inline]
    pub(crate) fn is_pending(&self, pending: &PendingWrites) -> bool {
        pending.has(self.pending)
    }

    /// Its last write goes on until `since`; false: it is over.
    #[inline(always)]
    pub(crate) fn touch(&self, pending: &mut PendingWrites, since: u64) -> bool {
        pending.touch(self.pending, since)
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
    /// When the thread's last fence was, plus one.
    fenced: u64,
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
    pub(crate) known: Known,
    /// By thread index.
    pub(crate) clocks: Vec<ThreadClock>,
    pub(crate) cores: Vec<Core>,
    pub(crate) others: Option<Others>,
    pub(crate) existing: Existing,
    /// Epochs of all cores: with each, lines of the sample are to be looked at that were not.
    pub(crate) epochs: u64,
    own: Own,
    limits: Limits,
}

impl Memory {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            lines: Lines::default(),
            contexts: Contexts::default(),
            origins: Origins::default(),
            allocations: Allocations::default(),
            known: Known::default(),
            clocks: Vec::new(),
            cores: Vec::new(),
            others: None,
            existing: Existing::default(),
            epochs: 0,
            own: Own::default(),
            limits,
        }
    }

    /// A thread begins, the next one by number.
    pub(crate) fn thread_begins(&mut self, clock: ThreadClock) {
        let number = self.clocks.len() as u32;
        self.cores.push(Core::new(number, &self.limits.thresholds));
        self.existing.thread_begins();
        self.clocks.push(clock);
    }

    /// The line becomes `owner`'s with this piece as its first write.
    fn take(&mut self, owner: Owner, origin: u32, p: &Piece) {
        let old = self.lines.states[p.state];
        if old.is_owned() {
            let first = self.origin_of(&old);
            let (writer, atomic, code) = {
                let first = self.origins.get(first);
                (first.thread, first.atomic, first.writer)
            };
            let distance = self.distance_from(writer, old.time, p.at);
            let window = self.limits.thresholds.fence_window;
            if writer == p.at.thread && code != p.writer && distance <= window {
                self.origins.get_mut(first).written().returned += 1;
            }
            if writer != p.at.thread {
                self.origins.get_mut(origin).written().scattered.taken += 1;
                self.lines.set_shared(p.page, p.line);
            } else if atomic && self.still_near(writer, old.time) {
                self.origins.get_mut(origin).written().after_atomic += 1;
            }
            if self.part(&old, Some(p), p.at, distance) && code != p.writer {
                self.origins.get_mut(first).written().joint += 1;
                self.origins.get_mut(origin).written().joint += 1;
            }
        } else if old.mask == 0 && owner.as_single().is_some() {
            let site = self.allocations.site(p.lo);
            if site != SiteId::NONE {
                let written = self.origins.get_mut(origin).written();
                *written.allocations.entry(site).or_default() += p.hi - p.lo;
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
        if sampled(p.line) {
            let window = self.limits.thresholds.in_place_window;
            if owner.as_single().is_some() {
                let read = self.lines.touched[sample_of(p.page)].read_by(p.at.thread);
                let lone = &mut self.origins.get_mut(origin).written().lone;
                lone.loaded.begin(read, window, p.at.now);
            }
            if owner.as_context().is_some() {
                let last = self.lines.touched[sample_of(p.page)];
                let groups = self.lines.groups_of(p.page, p.state);
                let fresh = self.known.is_fresh(p.lo, last.is_touched(), groups);
                let origin = self.origins.get_mut(origin);
                let read = last.read_by(p.at.thread);
                origin.written().loaded.begin(read, window, p.at.now);
                if let Some(fresh) = fresh {
                    origin.written().fresh.begin(fresh, last.was_touched());
                }
            }
            self.touch(p.page, p.line, p.at, false);
        }
    }
}

/// The bytes of the line that `size` > 0 bytes at `addr` touch.
fn bits_in(line: u64, addr: u64, size: u64) -> u64 {
    let base = line << LINE_SHIFT;
    let lo = addr.max(base) - base;
    let hi = (addr.saturating_add(size) - base).min(LINE);
    (u64::MAX >> (LINE - (hi - lo))) << lo
}

/// The stretch of a line from its first to its last byte in `mask`, which is not empty.
fn region(line: u64, mask: u64) -> (u64, u64) {
    let base = line << LINE_SHIFT;
    (
        base + u64::from(mask.trailing_zeros()),
        base + LINE - u64::from(mask.leading_zeros()),
    )
}
