//! A store that goes on from line to line, as the one before it did: what that does to each line, without asking what it belongs to.
//!
//! It does what `write` and `read` would, to a line that begins with the store's next byte and that nothing is peculiar about; all
//! others are left to them.

use super::{Memory, Streak};
use crate::batch::Item;
use crate::contexts::Direction;
use crate::cores::sampled;
use crate::fences::{APART, PendingWrites, waits_from};
use crate::lines::{GROUP_LINES, LINE, LINE_SHIFT, LineState, Owner, bits_of};
use crate::usage::Age;

/// A row of executions that store right behind each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead<'a> {
    /// From the row's first execution on.
    pub(crate) items: &'a [Item],
    /// Of its store: the address, the bytes of each, at most a line, and when in the block.
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) instr: u64,
    /// When in the block it has read the bytes that it stores to, if it has.
    pub(crate) read: Option<u64>,
    pub(crate) thread: u32,
    /// The last execution before the next event of anything else in the block.
    pub(crate) last: usize,
}

impl Ahead<'_> {
    fn at(&self, execution: usize) -> u64 {
        self.addr + self.size * execution as u64
    }

    fn before(&self, execution: usize) -> u64 {
        self.items[execution].before
    }

    /// When it stores.
    fn now(&self, execution: usize) -> u64 {
        self.before(execution) + self.instr
    }
}

/// What a line was that a store comes to: a line of that context, read at last after so many instructions, if it is read now.
struct Before {
    owner: u32,
    read: Option<u64>,
}

impl Memory {
    /// Makes the executions of the row behind `made`, in the first of which the store leaves its line or fills it, up to one in which it
    /// has just come to another line, and says which: `made` if there is none.
    pub(crate) fn advance(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        ahead: &Ahead<'_>,
        mut made: usize,
    ) -> usize {
        let Some(c) = streak.owner.as_context() else {
            return made;
        };
        let context = self.contexts.get(c);
        let (serial, writer) = (context.serial, context.writer);
        let belongs = serial == streak.serial
            && serial != 0
            && context.recent == streak.origin
            && self.lines.states[streak.state as usize].owner == streak.owner;
        let origin = self.origins.get(streak.origin);
        let goes_up = context.direction == Direction::Up && context.hi == ahead.at(made + 1);
        if !belongs
            || !goes_up
            || pending.fenced > context.last
            || (origin.writer, origin.line) != (writer, streak.line)
            || !self.origins.turns(writer).is_at(serial)
        {
            return made;
        }
        while let Some(next) = self.next_line(c, streak, pending, ahead, made) {
            made = next;
        }
        made
    }

    /// Goes on to the next line, and says in which execution; `None`: not so, and nothing is done.
    #[inline(always)]
    fn next_line(
        &mut self,
        c: u32,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        ahead: &Ahead<'_>,
        made: usize,
    ) -> Option<usize> {
        let line = streak.line + 1;
        let lo = line << LINE_SHIFT;
        let offset = lo - ahead.addr;
        let (execution, part) = ((offset / ahead.size) as usize, offset % ahead.size);
        if execution > ahead.last || line.is_multiple_of(GROUP_LINES as u64) || sampled(line) {
            return None;
        }
        // The last execution that writes the line that is left.
        let last = execution - usize::from(part == 0);
        let rest = lo - ahead.at(made + 1).min(lo);
        let hi = (ahead.at(execution) + ahead.size).min(lo + LINE);
        let pause = ahead.before(execution) - ahead.before(last);
        let apart = ahead.before(last) - ahead.before(made);
        let context = self.contexts.get(c);
        let covered = context.covered + rest + (hi - lo);
        if pause > self.limits.max_pause
            || apart > APART
            || !self.limits.dense(covered, hi - context.lo)
            || !streak.is_pending(pending)
            || last > made && !self.can_finish(streak, ahead.read.is_some(), lo - rest, rest)
            || hi.is_multiple_of(LINE) && !self.is_old(c, streak.state as usize + 2, line + 1)
        {
            return None;
        }
        let before = self.before(c, streak, ahead, (execution, lo, hi))?;
        self.finish_line(streak, pending, ahead, (made, last));
        let origin = streak.origin;
        let now = ahead.now(execution);
        if let Some(before) = before {
            self.replace(c, streak, before, now);
        }
        let context = self.contexts.get_mut(c);
        context.covered = covered;
        context.hi = hi;
        context.last = now;
        context.owned += 1;
        context.usage.lines += 1;
        (context.late, context.line) = (false, line as u32);
        streak.state += 1;
        self.lines.states[streak.state as usize] = LineState {
            time: now,
            start: now,
            mask: bits_of(lo, hi - lo),
            owner: streak.owner,
            reread: 0,
        };
        self.lines.set_unread(streak.page as usize, line);
        let origin_facts = self.origins.get_mut(origin);
        origin_facts.line = line;
        (streak.line, streak.addr, streak.last) = (line, lo, now + 1);
        streak.pending = pending.push(
            origin,
            waits_from(now, 0),
            &mut origin_facts.written().fences,
        );
        Some(execution)
    }

    /// May the `rest` bytes at `from`, the last ones of the line that `streak` is at, be written as those before them were, after they
    /// have been read, or not?
    #[inline(always)]
    fn can_finish(&self, streak: &Streak, reads: bool, from: u64, rest: u64) -> bool {
        let state = &self.lines.states[streak.state as usize];
        let unread = self.lines.is_unread(streak.page as usize, streak.line);
        let reads_well = !sampled(streak.line) && (!unread || state.reread == 0);
        state.mask & bits_of(from, rest) == 0 && (!reads || reads_well)
    }

    /// Has the line number `line` at `state`, whose neighbour below `c` comes to, nothing that `c` would take in?
    #[inline(always)]
    fn is_old(&self, c: u32, state: usize, line: u64) -> bool {
        if line.is_multiple_of(GROUP_LINES as u64) {
            return false;
        }
        let owner = self.lines.states[state].owner.bare();
        owner == Owner::NONE
            || owner
                .as_context()
                .is_some_and(|d| d == c || self.contexts.get(d).start < self.contexts.get(c).start)
    }

    /// What the line behind the one that `streak` is at was before the context `c` comes to it with `lo..hi`; `None`: peculiar.
    #[inline(always)]
    fn before(
        &self,
        c: u32,
        streak: &Streak,
        ahead: &Ahead<'_>,
        (execution, lo, hi): (usize, u64, u64),
    ) -> Option<Option<Before>> {
        let old = &self.lines.states[streak.state as usize + 1];
        let line = lo >> LINE_SHIFT;
        let unread = self.lines.is_unread(streak.page as usize, line);
        if old.owner == Owner::NONE {
            return (!unread).then_some(None);
        }
        let owner = old.owner.as_context()?;
        let (other, context) = (self.contexts.get(owner), self.contexts.get(c));
        let first = self.origins.get(other.origin);
        let is_plain = owner != c
            && !old.owner.is_flushed()
            && first.thread == ahead.thread
            && !first.atomic
            && other.start < context.start
            && other.owned > 1
            && other.lo < hi
            && lo < other.hi;
        if !is_plain {
            return None;
        }
        let read = match ahead.read {
            Some(instr) if unread => {
                if old.reread != 0 || old.mask & bits_of(lo, hi - lo) == 0 {
                    return None;
                }
                Some(ahead.before(execution) + instr - old.time)
            }
            _ => None,
        };
        Some(Some(Before { owner, read }))
    }

    /// The store writes the rest of its line, in the executions behind `made` up to `last`, and leaves it.
    #[inline(always)]
    fn finish_line(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        ahead: &Ahead<'_>,
        (made, last): (usize, usize),
    ) {
        let (page, line) = (streak.page as usize, streak.line);
        let state = streak.state as usize;
        let unread = self.lines.is_unread(page, line);
        if last > made {
            let end = (line + 1) << LINE_SHIFT;
            let from = ahead.at(made + 1);
            let s = &mut self.lines.states[state];
            s.mask |= bits_of(from, end - from);
            s.time = ahead.now(last);
            // The last of them may go on in the next line, and what it wrote here was written before.
            let ago =
                (ahead.at(last) + ahead.size - end) / self.limits.thresholds.store_width.max(1);
            let mut since = waits_from(ahead.now(last), ago);
            if last > made + 1 {
                since = since.max(waits_from(ahead.now(last - 1), 0));
            }
            streak.touch(pending, since);
            if ahead.read.is_some() && unread {
                // It reads what it is about to write, and then leaves the line: all that is left of it.
                return self.read_by_its_writer(page, line);
            }
        }
        if self.lines.states[state].unmute() {
            self.lines.set_unread(page, line);
        }
    }

    /// The line behind the one that `streak` is at, which was as `before`, is read if it is to be, and becomes the context `c`'s at `now`.
    #[inline(always)]
    fn replace(&mut self, c: u32, streak: &Streak, before: Before, now: u64) {
        let old = self.lines.states[streak.state as usize + 1];
        let writer = self.contexts.get(c).writer;
        let other = self.contexts.get_mut(before.owner);
        let origin = self.origins.get_mut(other.origin);
        let distance = now - old.time;
        if origin.writer != writer && distance <= self.limits.thresholds.fence_window {
            origin.written().returned += 1;
        }
        let core = &self.cores[origin.thread as usize];
        if let Some(read) = before.read {
            let near = core.kept(old.time);
            other.usage.read_after(read, near);
            if !near {
                origin.written().far.read(&core.horizons, old.time);
            }
        }
        let age = Age::of(core, old.time);
        other.ends_line(&old);
        other.usage.written_after(distance, age);
        if !age.is_cached() {
            origin.written().far.write(&core.horizons, old.time);
        }
        other.owned -= 1;
        if before.read.is_some() {
            self.read_by_its_writer(streak.page as usize, streak.line + 1);
        }
    }
}
