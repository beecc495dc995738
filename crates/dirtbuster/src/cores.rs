//! What is still near a core: in its private cache.
//!
//! Instructions say little about it: a vector loop moves eight times as much in as many. So each
//! thread has a second clock, that of the lines which came anew to its core. It is read from a
//! sample, one line in [`SAMPLE`], chosen by address: the sample's *unread* bit is set although
//! nobody may have written the line, so that its next access, like that of a line just written, is
//! looked at. Then the bit stays clear until an epoch of that clock has passed, so that a line in
//! constant use is looked at once an epoch.
//!
//! What is in caches farther away is told by the different lines that were touched since ([`Recency`]): the second clock
//! would count what comes from them again and again each time.

use crate::Thresholds;
use crate::far::{Horizons, MOST_LINES};
use crate::lines::LINE;
use crate::loaded::ReadAt;
use crate::recency::Recency;
use crate::touched::Touch;

/// log2 of [`SAMPLE`].
const SAMPLE_SHIFT: u32 = 8;
/// Of so many lines one is in the sample.
pub(crate) const SAMPLE: u64 = 1 << SAMPLE_SHIFT;

/// Spreads numbers over all bits (2^64 over the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Epochs of the clock until what was touched is no longer near: a line's age is known to within
/// this part.
const NEAR_EPOCHS: u32 = 8;

/// Is the line in the sample?
#[inline(always)]
pub(crate) fn sampled(line: u64) -> bool {
    line % SAMPLE == (line >> SAMPLE_SHIFT).wrapping_mul(SPREAD) >> (64 - SAMPLE_SHIFT)
}

/// The bits of a page's lines in the sample. `page`: its address over 4096.
pub(crate) fn sample_bits(page: u64) -> u64 {
    let quad = page >> (SAMPLE_SHIFT - 6);
    let chosen = quad.wrapping_mul(SPREAD) >> (64 - SAMPLE_SHIFT);
    match chosen >> 6 == page % (SAMPLE / 64) {
        true => 1 << (chosen % 64),
        false => 0,
    }
}

/// Number of the sampled line that `page` (its number among the pages) shares with its neighbours.
#[inline]
pub(crate) fn sample_of(page: usize) -> usize {
    page >> (SAMPLE_SHIFT - 6)
}

/// A thread's core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    thread: u32,
    epoch: u32,
    /// Sampled lines that came in this epoch, and how many make one.
    fills: u32,
    epoch_fills: u32,
    /// Own time at which each of the last epochs began, by number modulo the length.
    began: [u64; NEAR_EPOCHS as usize + 1],
    recency: Recency,
    /// Sampled lines that the caches hold: its own with its part of the shared one, and all of that.
    kept_lines: u64,
    reach_lines: u64,
    near: u64,
    kept: u64,
    cached: u64,
    reach: u64,
    /// Of caches larger than those.
    pub(crate) horizons: Horizons,
    /// When its thread's last fence or atomic was, plus one, or may have been unseen; 0: there was none.
    pub(crate) fenced: u64,
    ended: bool,
    /// Sampled lines that came for a read.
    read_fills: u64,
    /// Sampled lines read in this epoch: number of the page, and line.
    pub(crate) looked_at: Vec<(u32, u64)>,
}

impl Core {
    pub(crate) fn new(thread: u32, t: &Thresholds) -> Self {
        let bytes = u64::from(NEAR_EPOCHS) * SAMPLE * LINE;
        let epoch_fills = (t.near_bytes / bytes).clamp(1, 1 << 20);
        let kept_lines = t.kept_bytes.max(t.near_bytes) / (SAMPLE * LINE);
        Self {
            thread,
            epoch: 0,
            fills: 0,
            epoch_fills: epoch_fills as u32,
            began: [0; NEAR_EPOCHS as usize + 1],
            recency: Recency::new(),
            kept_lines,
            reach_lines: (t.reach_bytes / (SAMPLE * LINE)).max(kept_lines),
            near: 0,
            kept: 0,
            cached: 0,
            reach: 0,
            horizons: Horizons::default(),
            fenced: 0,
            ended: false,
            read_fills: 0,
            looked_at: Vec::new(),
        }
    }

    /// The thread touches a sampled line; true: an epoch ends with it. `now`: its own time.
    pub(crate) fn touch(&mut self, last: &mut Touch, now: u64, read: bool) -> bool {
        let (me, old) = (self.thread, *last);
        *last = old.by(me, self.epoch, ReadAt::new(now, read), read);
        if let Some(epoch) = old.held_by(me) {
            self.recency.forget(epoch);
        }
        self.recency.touch();
        if (old.last_by(me)).is_some_and(|epoch| self.epoch - epoch <= NEAR_EPOCHS) {
            return false;
        }
        self.fills += 1;
        self.read_fills += u64::from(read);
        if self.fills < self.epoch_fills {
            return false;
        }
        self.fills = 0;
        self.epoch += 1;
        let length = self.began.len() as u32;
        self.began[(self.epoch % length) as usize] = now;
        let most = self.reach_lines.max(MOST_LINES);
        self.recency.begin(self.epoch, now, most);
        self.near = match self.epoch.checked_sub(NEAR_EPOCHS) {
            Some(epoch) => self.began[(epoch % length) as usize],
            None => 0,
        };
        self.kept = self.recency.since(self.kept_lines).min(self.near);
        self.reach = self.recency.since(self.reach_lines).min(self.kept);
        self.share_within_reach(1);
        true
    }

    /// The thread, at its time `now`, has executed what nobody saw: what it touched before may be anywhere.
    pub(crate) fn leave_out(&mut self, now: u64) {
        self.fenced = now + 1;
        self.fills = 0;
        self.epoch += NEAR_EPOCHS + 1;
        self.began = [now; NEAR_EPOCHS as usize + 1];
        self.recency = Recency::since_epoch(self.epoch, now);
        (self.near, self.kept, self.cached, self.reach) = (now, now, now, now);
        self.horizons = Horizons::of(&self.recency, 1);
    }

    /// It has no more a sampled line that it touched last in that epoch.
    pub(crate) fn leaves(&mut self, epoch: u32) {
        self.recency.forget(epoch);
    }

    /// So many threads at work fill the caches that cores share.
    pub(crate) fn share(&mut self, threads: usize) {
        self.share_within_reach(threads);
        // These caches hold many megabytes: after each eighth epoch, about 1 MB of lines that came, is often enough.
        if self.epoch.is_multiple_of(NEAR_EPOCHS) {
            self.horizons = Horizons::of(&self.recency, threads);
        }
    }

    fn share_within_reach(&mut self, threads: usize) {
        let part = self.reach_lines / threads.max(1) as u64;
        self.cached = self.recency.since(part).clamp(self.reach, self.kept);
    }

    /// Have lines come to it, and has it not ended?
    pub(crate) fn is_at_work(&self) -> bool {
        self.epoch > 0 && !self.ended
    }

    /// Is what the thread touched at `time`, its own, still near it?
    #[inline]
    pub(crate) fn near(&self, time: u64) -> bool {
        time >= self.near
    }

    /// Is it in its own cache, or in its part of the shared one?
    #[inline]
    pub(crate) fn kept(&self, time: u64) -> bool {
        time >= self.kept
    }

    /// Is it in any cache, of those that cores share in this thread's part?
    #[inline]
    pub(crate) fn cached(&self, time: u64) -> bool {
        time >= self.cached
    }

    /// Is it within reach: in a cache that many cores share?
    #[inline]
    pub(crate) fn within_reach(&self, time: u64) -> bool {
        time >= self.reach
    }

    /// The thread has ended: its clock stands still, and what was near it stays so.
    pub(crate) fn stop(&mut self) {
        self.ended = true;
        self.recency = Recency::new();
        self.looked_at = Vec::new();
    }

    /// Lines that came from afar for a read, estimated.
    pub(crate) fn lines_read(&self) -> u64 {
        self.read_fills * SAMPLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_so_many_is_sampled_and_pages_of_one_sample_are_neighbours() {
        for quad in 0..1000 {
            let bits: u32 = (0..4).map(|p| sample_bits(quad * 4 + p).count_ones()).sum();
            assert_eq!(bits, 1);
        }
        assert_eq!(sample_of(7), sample_of(4));
        assert_ne!(sample_of(7), sample_of(8));
    }

    #[test]
    fn what_was_touched_is_near_until_so_many_bytes_came() {
        let t = Thresholds::default();
        let mut core = Core::new(0, &t);
        for line in 0..(t.near_bytes * 3) / LINE / SAMPLE {
            assert!(core.near(line) && core.within_reach(0));
            core.touch(&mut Touch::default(), line, true);
        }
        let fresh = t.near_bytes / LINE / SAMPLE;
        assert!(!core.near(2 * fresh - fresh / 4) && core.near(2 * fresh + fresh / 4));
        assert_eq!(core.lines_read() * LINE, t.near_bytes * 3);
        for line in 0..t.reach_bytes / LINE / SAMPLE {
            core.touch(&mut Touch::default(), line, false);
        }
        assert!(!core.within_reach(0));
    }

    #[test]
    fn what_left_the_own_cache_is_kept_in_the_shared_one_for_a_while() {
        let t = Thresholds::default();
        let mut core = Core::new(0, &t);
        let lines = |bytes: u64| bytes / LINE / SAMPLE;
        for line in 1..=lines(t.kept_bytes + t.near_bytes / 4) {
            assert!(core.kept(0) || line > lines(t.kept_bytes));
            core.touch(&mut Touch::default(), line, true);
        }
        assert!(!core.near(0) && !core.kept(0) && core.within_reach(0));
        // Of what cores share each thread at work has a part.
        assert!(core.cached(0));
        core.share(2);
        assert!(core.cached(0));
        core.share(8);
        assert!(!core.cached(0));
    }

    #[test]
    fn what_is_touched_again_and_again_does_not_come_anew() {
        let mut core = Core::new(0, &Thresholds::default());
        let mut touches = [Touch::default(); 32];
        for round in 0..100 {
            for touch in &mut touches {
                core.touch(touch, round, true);
            }
        }
        assert_eq!(core.lines_read(), 32 * SAMPLE);
        assert!(core.near(0));
    }
}
