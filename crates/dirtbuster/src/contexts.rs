//! Sequentiality contexts (P0, section 6.2.2): regions that grow write by write.

use std::collections::VecDeque;

use prestore_trace::SiteId;

use crate::Thresholds;
use crate::lines::{LINE, LINE_SHIFT, LineState};
use crate::turns::Place;
use crate::usage::Usage;

/// Towards which end a context grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// Farthest, in bytes, that a write may leave out between itself and a context it extends.
pub(crate) const MAX_GAP: u64 = LINE;

/// Lines behind the frontier that may still be filled in: overlapping tails of `memcpy`,
/// structures whose fields are written out of order.
const BEHIND: u64 = 2;

/// A context of up to so many lines has not settled for a direction.
const UNSETTLED: u64 = 2;

/// A region of at least two lines, written in one go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// First byte written.
    pub(crate) lo: u64,
    /// Behind the last byte written.
    pub(crate) hi: u64,
    /// Bytes written, each once.
    pub(crate) covered: u64,
    /// When it was begun and written last, in its thread's instructions.
    pub(crate) start: u64,
    pub(crate) last: u64,
    /// Where the write that began it came from; its thread and function.
    pub(crate) origin: u32,
    pub(crate) writer: u32,
    /// Whose write extended it last.
    pub(crate) recent: u32,
    /// Tells it from earlier contexts of the same number.
    pub(crate) serial: u32,
    /// Lines whose last writing is its.
    pub(crate) owned: u32,
    pub(crate) direction: Direction,
    /// Allocation that holds its first byte, [`SiteId::NONE`]: not known.
    pub(crate) allocation: SiteId,
    /// The line written last, low bits, and whether the writer came back to it late.
    pub(crate) line: u32,
    pub(crate) late: bool,
    /// The last line with a fence amid its stores, low bits.
    pub(crate) cut: u32,
    /// Of the lines that others have written since, or that the run has ended with, those that it had written in part.
    pub(crate) incomplete: u32,
    pub(crate) place: Place,
    /// Where the writer remembers it.
    pub(crate) slot: u8,
    pub(crate) usage: Usage,
}

/// What [`crate::Analyzer`] states of its memory.
const _: () = assert!(size_of::<Context>() <= 256);

impl Context {
    /// Would a write of `lo..hi` (in one line) at `now` extend it or fill it in?
    #[inline]
    pub(crate) fn admits(&self, lo: u64, hi: u64, now: u64, t: &Limits) -> bool {
        if now - self.last > t.max_pause {
            return false;
        }
        let line = lo >> LINE_SHIFT;
        let (first, last) = (self.lo >> LINE_SHIFT, (self.hi - 1) >> LINE_SHIFT);
        let near = match self.direction {
            Direction::Up => line + BEHIND >= last && line <= last + 1,
            Direction::Down => line <= first + BEHIND && line + 1 >= first,
        };
        // `memcpy` may write the first vector of its destination last, and the last one first;
        // a vector may lie across two lines.
        let other_end = match self.direction {
            Direction::Up => line == first || line == first + 1 || hi == self.lo,
            Direction::Down => line == last || line + 1 == last || lo == self.hi,
        };
        if !near && !other_end {
            return false;
        }
        // Within its lines, in whatever order: compilers write the last bytes of a structure early.
        if lo >= self.lo && hi <= self.hi || first <= line && line <= last {
            return true;
        }
        lo.saturating_sub(self.hi) <= MAX_GAP
            && self.lo.saturating_sub(hi) <= MAX_GAP
            && t.dense(self.covered + (hi - lo), self.hi.max(hi) - self.lo.min(lo))
    }

    /// Is it the line that its writer has got to? Of a few lines, which may be written over and over, none is.
    pub(crate) fn is_newest(&self, line: u64) -> bool {
        let newest = match self.direction {
            Direction::Up => self.hi - 1,
            Direction::Down => self.lo,
        };
        self.hi - self.lo > UNSETTLED * LINE && line == newest >> LINE_SHIFT
    }

    /// A line of it will not be written by it any more.
    pub(crate) fn ends_line(&mut self, line: &LineState) {
        self.incomplete += u32::from(line.mask != u64::MAX);
    }

    /// Lines that were written in part, if half of its lines were: a whole line that is written around the cache saves a fetch, one in part
    /// costs a read. Fewer are the ends of a matrix's rows, whose inner lines are whole (P0 skips such a sweep, 7.2.2).
    pub(crate) fn with_gaps(&self) -> u64 {
        let incomplete = u64::from(self.incomplete);
        if incomplete * 2 < self.usage.lines {
            return 0;
        }
        incomplete
    }

    /// Takes the write in.
    #[inline]
    pub(crate) fn grow(&mut self, lo: u64, hi: u64, now: u64) {
        if (lo < self.lo || hi > self.hi) && self.hi - self.lo <= UNSETTLED * LINE {
            self.direction = if hi > self.hi {
                Direction::Up
            } else {
                Direction::Down
            };
        }
        self.lo = self.lo.min(lo);
        self.hi = self.hi.max(hi);
        self.last = now;
    }
}

/// The thresholds in the form the hot path wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_pause: u64,
    density_1024: u64,
    pub(crate) thresholds: Thresholds,
}

impl Limits {
    pub(crate) fn new(t: &Thresholds) -> Self {
        Self {
            max_pause: t.max_pause,
            density_1024: (t.min_density * 1024.0) as u64,
            thresholds: *t,
        }
    }

    #[inline]
    pub(crate) fn dense(&self, covered: u64, span: u64) -> bool {
        covered * 1024 >= span * self.density_1024
    }
}

/// All contexts of a process that a line still belongs to, and the few that lost theirs lately.
#[derive(Debug)]
pub(crate) struct Contexts {
    slots: Vec<Context>,
    free: Vec<u32>,
    /// Contexts that lost their last line, number and serial, oldest first.
    bereft: VecDeque<(u32, u32)>,
    serials: u32,
}

/// A context whose lines were all written by others stays open until so many more have lost
/// theirs: two functions may fill the same lines in turns.
pub(crate) const BEREFT: usize = 64;

const NOBODY: u32 = u32::MAX;

impl Default for Contexts {
    fn default() -> Self {
        let unused = Context {
            lo: 0,
            hi: 1,
            covered: 0,
            start: 0,
            last: 0,
            origin: NOBODY,
            writer: NOBODY,
            recent: NOBODY,
            serial: 0,
            owned: 0,
            direction: Direction::Up,
            allocation: SiteId::NONE,
            line: 0,
            late: false,
            cut: 0,
            incomplete: 0,
            place: Place::default(),
            slot: 0,
            usage: Usage::default(),
        };
        Self {
            slots: vec![unused],
            free: Vec::new(),
            bereft: VecDeque::new(),
            serials: 0,
        }
    }
}

impl Contexts {
    /// Opens a context; its serial is set here.
    pub(crate) fn open(&mut self, mut context: Context) -> u32 {
        self.serials = self.serials.checked_add(1).unwrap_or(1);
        context.serial = self.serials;
        match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = context;
                at
            }
            None => {
                self.slots.push(context);
                self.slots.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &Context {
        &self.slots[at as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut Context {
        &mut self.slots[at as usize]
    }

    /// `at` has lost its last line. Returns a context that is closed for it, if any.
    pub(crate) fn bereave(&mut self, at: u32) -> Option<Context> {
        self.bereft.push_back((at, self.get(at).serial));
        if self.bereft.len() <= BEREFT {
            return None;
        }
        let (old, serial) = self.bereft.pop_front()?;
        let context = *self.get(old);
        if context.serial != serial || context.owned > 0 {
            return None;
        }
        self.dissolve(old);
        Some(context)
    }

    /// Ends `at`, whose lines have gone to another context.
    pub(crate) fn dissolve(&mut self, at: u32) {
        let slot = self.get_mut(at);
        slot.writer = NOBODY;
        slot.serial = 0;
        slot.owned = 0;
        self.free.push(at);
    }

    /// All open contexts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Context> {
        self.slots.iter().filter(|c| c.serial != 0)
    }

    /// Bytes of memory they take.
    pub(crate) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Context>() + self.free.capacity() * 4
    }
}
