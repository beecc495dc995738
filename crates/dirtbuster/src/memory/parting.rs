//! How a line's writing ends: by another one, by code that is not tracked, or with the run.

use super::{Memory, Moment, Piece};
use crate::lines::{LINE_SHIFT, LineState, Owner, RegionHint};
use crate::usage::Age;

impl Memory {
    /// The line's streak loses it to a write at `at`, so many instructions behind its own: to `p`, or to code that is not
    /// tracked. True: the two wrote different bytes of it at about the same time, as one writing.
    #[inline]
    pub(super) fn part(
        &mut self,
        old: &LineState,
        p: Option<&Piece>,
        at: Moment,
        distance: u64,
    ) -> bool {
        let max_pause = self.limits.max_pause;
        let apart = |p: &Piece, region: Option<(u64, u64)>| match region {
            None => p.bits & old.mask == 0,
            Some((lo, hi)) => p.lo >= hi || p.hi <= lo,
        };
        let shared = |thread: u32, region: Option<(u64, u64)>| {
            p.is_some_and(|p| {
                thread == at.thread
                    && old.read_distance().is_none()
                    && distance <= max_pause
                    && apart(p, region)
            })
        };
        if let Some(o) = old.owner.as_single() {
            let core = &self.cores[self.origins.get(o).thread as usize];
            let age = Age::of(core, old.time);
            let origin = self.origins.get_mut(o);
            origin.written().scattered_bytes += u64::from(old.mask.count_ones());
            if shared(origin.thread, None) {
                return true;
            }
            origin.written().scattered.lines += 1;
            origin.written().lone.end(old);
            origin.written().scattered.flushed += u64::from(old.owner.is_flushed());
            if let Some(read) = old.read_distance() {
                origin.written().scattered.read_after(read, old.read_near());
            }
            if !age.is_cached() {
                origin.written().lone.write(old, core);
            }
            origin.written().scattered.written_after(distance, age);
        } else if let Some(c) = old.owner.as_context() {
            let context = self.contexts.get_mut(c);
            let origin = self.origins.get_mut(context.origin);
            let thread = origin.thread;
            let core = &self.cores[thread as usize];
            let is_shared = shared(thread, Some((context.lo, context.hi)));
            if is_shared {
                context.usage.lines -= 1;
            } else {
                let age = Age::of(core, old.time);
                context.ends_line(old);
                context.usage.written_after(distance, age);
                if !age.is_cached() {
                    origin.written().far.write(&core.horizons, old.time);
                }
            }
            context.owned -= 1;
            if context.owned == 0
                && let Some(closed) = self.contexts.bereave(c)
            {
                self.origins.close(&closed, &self.limits.thresholds);
            }
            return is_shared;
        }
        false
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
            if !old.is_owned() {
                continue;
            }
            let distance = self.distance(&old, at);
            self.part(&old, None, at, distance);
            self.lines.states[i].owner = Owner::NONE;
            self.lines.clear_unread(page, line);
        }
    }

    /// The run is over: what is still open ends.
    pub(crate) fn finish(&mut self) {
        let thresholds = self.limits.thresholds;
        for state in self.lines.states.iter() {
            if let Some(o) = state.owner.as_single() {
                let written = self.origins.get_mut(o).written();
                written.scattered_bytes += u64::from(state.mask.count_ones());
                written.scattered.lines += 1;
                written.lone.end(state);
                written.scattered.flushed += u64::from(state.owner.is_flushed());
                if let Some(distance) = state.read_distance() {
                    written.scattered.read_after(distance, state.read_near());
                }
            } else if let Some(c) = state.owner.as_context() {
                self.contexts.get_mut(c).ends_line(state);
            }
        }
        for context in self.contexts.iter() {
            self.origins.close(context, &thresholds);
        }
    }
}
