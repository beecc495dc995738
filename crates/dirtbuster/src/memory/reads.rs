//! Reads, and how far they are from the write.

use super::{Memory, Moment, Streak, bits_in};
use crate::cores::{sample_of, sampled};
use crate::lines::{LINE, LINE_SHIFT, LineState, RegionHint, bits_of};

impl Memory {
    /// Is anything of the `size` > 0 bytes at `addr` in a line that is to be looked at: one that
    /// tracked code wrote and nobody has read since, or one of the sample? Where the bytes cross
    /// pages it may be.
    #[inline(always)]
    pub(crate) fn unread(&mut self, hint: &mut RegionHint, addr: u64, size: u64) -> u64 {
        self.lines.unread_at(hint, addr, size).unwrap_or(1)
    }

    /// Where `unread` is 0: how many bytes farther down and up it is as well, within the page.
    #[inline]
    pub(crate) fn nothing_around(
        &mut self,
        hint: &mut RegionHint,
        addr: u64,
        size: u32,
    ) -> Option<(u64, u64)> {
        let page = self.lines.page(hint, addr);
        let unread = self.lines.unread[page];
        let (first, end) = (addr & 0xfff, (addr & 0xfff) + u64::from(size));
        let (line, last) = (first >> LINE_SHIFT, (end - 1) >> LINE_SHIFT);
        if last > 63 || (unread >> line) & (u64::MAX >> (63 - (last - line))) != 0 {
            return None;
        }
        // Lines below the first and above the last, as far as there is none.
        let below = (unread << (63 - line)).leading_zeros().min(line as u32 + 1);
        let above = (unread >> last).trailing_zeros().min(64 - last as u32);
        let lowest = (line + 1 - u64::from(below)) << LINE_SHIFT;
        Some((
            first - lowest,
            ((last + u64::from(above)) << LINE_SHIFT) - end,
        ))
    }

    /// A read of `size` > 0 bytes at `addr`; true: of what another thread wrote, for the first
    /// time.
    #[inline(always)]
    pub(crate) fn read(&mut self, hint: &mut RegionHint, addr: u64, size: u64, at: Moment) -> bool {
        self.unread(hint, addr, size) != 0 && self.read_lines(hint, addr, size, at)
    }

    #[inline(never)]
    fn read_lines(&mut self, hint: &mut RegionHint, addr: u64, size: u64, at: Moment) -> bool {
        if addr % LINE + size <= LINE {
            let page = self.lines.page(hint, addr);
            return self.read_line(*hint, page, (addr, bits_of(addr, size)), at);
        }
        let last = addr.saturating_add(size - 1) >> LINE_SHIFT;
        let mut received = false;
        for line in addr >> LINE_SHIFT..=last {
            let first = line << LINE_SHIFT;
            let page = self.lines.page(hint, first);
            if self.lines.is_unread(page, line) {
                let bits = bits_in(line, addr, size);
                received |= self.read_line(*hint, page, (first, bits), at);
            }
        }
        received
    }

    /// Reads the bytes `bits` of the line that `addr` is in, which is to be looked at.
    #[inline(always)]
    fn read_line(
        &mut self,
        hint: RegionHint,
        page: usize,
        (addr, bits): (u64, u64),
        at: Moment,
    ) -> bool {
        let line = addr >> LINE_SHIFT;
        self.lines.clear_unread(page, line);
        if sampled(line) {
            self.touch(page, line, at, true);
        }
        let Some(i) = self.lines.find(hint, line) else {
            return false;
        };
        let state = self.lines.states[i];
        if !state.is_owned() || state.reread != 0 && !state.is_read_by_writer_only() {
            return false;
        }
        let taken = self.read_by(i, bits, line, at);
        match taken {
            true => self.lines.set_shared(page, line),
            false => self.read_by_its_writer(page, line),
        }
        taken
    }

    /// A read of a line that nobody but its writer has read since it was written; true: by another thread.
    fn read_by(&mut self, i: usize, bits: u64, line: u64, at: Moment) -> bool {
        let state = self.lines.states[i];
        let writer = self.writer_thread(&state);
        let taken = writer != at.thread;
        if state.reread == 0 {
            if !taken && state.mask & bits == 0 && self.is_at(&state, line) {
                // What the writer is about to write: its visit of the line goes on.
                self.lines.states[i].mute();
                return false;
            }
            self.first_read(i, writer, at);
        }
        if taken {
            self.lines.states[i].set_read_by_another();
            let origin = self.origin_of(&state);
            let fenced = state.time < self.cores[writer as usize].fenced;
            self.origins.get_mut(origin).written().told.read(fenced);
            if let Some(c) = state.owner.as_context() {
                self.contexts.get_mut(c).usage.taken += 1;
            } else if let Some(o) = state.owner.as_single() {
                self.origins.get_mut(o).written().scattered.taken += 1;
            }
        }
        taken
    }

    /// Does the writer `thread` read nothing but what it is about to write, as far as it is looked at, in the line that its `streak` is
    /// at: `size` > 0 bytes at `addr`?
    #[inline(always)]
    pub(crate) fn is_ahead(&self, streak: &Streak, (addr, size): (u64, u64), thread: u32) -> bool {
        let line = addr >> LINE_SHIFT;
        if line != streak.line || addr % LINE + size > LINE {
            return false;
        }
        if !self.lines.is_unread(streak.page as usize, line) {
            return true;
        }
        let state = &self.lines.states[streak.state as usize];
        !sampled(line)
            && state.is_owned()
            && state.reread == 0
            && state.mask & bits_of(addr, size) == 0
            && self.writer_thread(state) == thread
            && self.is_at(state, line)
    }

    /// Reads it.
    #[inline(always)]
    pub(crate) fn read_ahead(&mut self, streak: &Streak) {
        let (page, line) = (streak.page as usize, streak.line);
        if self.lines.is_unread(page, line) {
            self.lines.clear_unread(page, line);
            self.lines.states[streak.state as usize].mute();
            self.read_by_its_writer(page, line);
        }
    }

    fn first_read(&mut self, i: usize, writer: u32, at: Moment) {
        let state = self.lines.states[i];
        let distance = self.distance(&state, at);
        let near = self.cores[writer as usize].kept(state.time);
        self.lines.states[i].set_read(distance, near);
        if let Some(c) = state.owner.as_context() {
            let usage = &mut self.contexts.get_mut(c).usage;
            usage.read_after(distance, near);
            if !near {
                let origin = self.origin_of(&state);
                let horizons = &self.cores[writer as usize].horizons;
                self.origins
                    .get_mut(origin)
                    .written()
                    .far
                    .read(horizons, state.time);
            }
        } else if let Some(origin) = state.owner.as_single()
            && !near
        {
            let core = &self.cores[writer as usize];
            self.origins
                .get_mut(origin)
                .written()
                .lone
                .read(&state, core);
        }
    }

    /// Is the line the one that its streak has written last?
    fn is_at(&self, state: &LineState, line: u64) -> bool {
        let origin = match state.owner.as_context() {
            Some(c) => self.contexts.get(c).recent,
            None => self.origin_of(state),
        };
        self.origins.get(origin).line == line
    }

    /// A thread touches a line of the sample.
    pub(super) fn touch(&mut self, page: usize, line: u64, at: Moment, read: bool) {
        let last = &mut self.lines.touched[sample_of(page)];
        for (other, epoch) in last.leaves(at.thread, read).into_iter().flatten() {
            self.cores[other as usize].leaves(epoch);
        }
        let core = &mut self.cores[at.thread as usize];
        if read {
            core.looked_at.push((page as u32, line));
        }
        if core.touch(last, at.now, read) {
            self.epochs += 1;
            for (page, line) in core.looked_at.drain(..) {
                self.lines.unread[page as usize] |= 1 << (line & 63);
            }
            let at_work = self.cores.iter().filter(|c| c.is_at_work()).count();
            self.cores[at.thread as usize].share(at_work);
        }
    }

    /// The origin that began what the line, which is somebody's, belongs to.
    pub(super) fn origin_of(&self, state: &LineState) -> u32 {
        match (state.owner.as_single(), state.owner.as_context()) {
            (Some(o), _) => o,
            (_, Some(c)) => self.contexts.get(c).origin,
            _ => 0,
        }
    }

    pub(super) fn writer_thread(&self, state: &LineState) -> u32 {
        self.origins.get(self.origin_of(state)).thread
    }

    /// Is what `writer` wrote at its `time` still near its core?
    #[inline]
    pub(super) fn still_near(&self, writer: u32, time: u64) -> bool {
        self.cores[writer as usize].near(time)
    }

    /// Instructions from a line's last write to `at`.
    pub(super) fn distance(&self, state: &LineState, at: Moment) -> u64 {
        if !state.is_owned() {
            return 0;
        }
        self.distance_from(self.writer_thread(state), state.time, at)
    }

    /// Instructions from the time of the thread `writer` to `at`.
    #[inline]
    pub(super) fn distance_from(&self, writer: u32, time: u64, at: Moment) -> u64 {
        if writer == at.thread {
            return at.now - time;
        }
        let clock = |t: u32| &self.clocks[t as usize];
        let written = clock(writer).virtual_at(time);
        if let Some(others) = self.others.as_ref().filter(|o| o.thread == at.thread) {
            return at.now.saturating_sub(others.clock.virtual_at(written));
        }
        let read = at.now + clock(at.thread).lead();
        read.saturating_sub(written)
    }
}
