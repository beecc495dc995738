//! How many instructions lie between writes and the thread's next fence.

use crate::findings::FenceDistance;
use crate::tally::Tally;

/// A fence further away than this is none: nothing stays in a core's buffers for so long, and
/// the writes that wait for a fence need not be remembered longer.
pub(crate) const HORIZON: u64 = 1 << 16;

/// Instructions from the first to the last of executions that are taken in at once, at most: less than what makes two writes of one.
pub(crate) const APART: u64 = HORIZON / 2;

const EXACT: usize = 64;
const STEPS: usize = 32;

/// Distances up to [`HORIZON`]: exact below 64, within 1/32 above.
#[derive(Clone, Debug, Default)]
pub(crate) struct FenceHistogram {
    /// By bucket, of which there are 384.
    counts: Tally<u16>,
    min: Option<u64>,
    /// All writes, with or without a fence after them.
    writes: u64,
    /// Fences that writes waited for, and when the last of them was, plus one.
    pub(crate) fences: u64,
    last: u64,
}

fn bucket(distance: u64) -> usize {
    if distance < EXACT as u64 {
        return distance as usize;
    }
    let octave = 63 - distance.leading_zeros() as usize;
    let step = (distance >> (octave - 5)) as usize - STEPS;
    EXACT + (octave - 6) * STEPS + step
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    if bucket < EXACT {
        return bucket as u64;
    }
    let (octave, step) = ((bucket - EXACT) / STEPS + 6, (bucket - EXACT) % STEPS);
    let width = 1u64 << (octave - 5);
    (STEPS + step) as u64 * width + (width - 1) / 2
}

impl FenceHistogram {
    /// Adds what `other` counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.writes += other.writes;
        self.fences += other.fences;
        self.min = self.min.into_iter().chain(other.min).min();
        self.counts.merge(&other.counts);
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.counts.scale(weight);
        self.writes *= weight;
        self.fences *= weight;
    }

    /// A write had a fence at this distance.
    #[inline]
    pub(crate) fn record(&mut self, distance: u64) {
        self.counts.add(bucket(distance) as u16, 1);
        if self.min.is_none_or(|m| distance < m) {
            self.min = Some(distance);
        }
    }

    /// The fence at `now` is one that writes have waited for.
    #[inline]
    pub(crate) fn fenced(&mut self, now: u64) {
        self.fences += u64::from(self.last != now + 1);
        self.last = now + 1;
    }

    /// Minimum and median over all writes.
    pub(crate) fn distance(&self) -> FenceDistance {
        let mut seen = 0;
        let at = self.counts.iter().find(|(_, n)| {
            seen += n;
            seen * 2 > self.writes
        });
        FenceDistance {
            min: self.min,
            median: at.map(|c| middle(c.0.into()).max(self.min.unwrap_or(0))),
        }
    }
}

/// From when on bytes wait for a fence that were written `ago` before their instruction was over.
#[inline(always)]
pub(crate) fn waits_from(now: u64, ago: u64) -> u64 {
    // Shifted, so that what a repeated store wrote long ago may lie before the program's start.
    now + (HORIZON + 1) - ago.min(HORIZON + 1)
}

/// A thread's writes since its last fence. Times are those of [`waits_from`].
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingWrites {
    /// Time of the last store of each, and its origin.
    entries: Vec<(u64, u32)>,
    /// Number of the first entry since the program's start.
    base: u64,
    /// Stores up to here were done when their instruction was: the last atomic's own.
    settled: u64,
    /// When the thread's last fence was, in its instructions, plus one; 0: there was none.
    pub(crate) fenced: u64,
}

/// Entries that are kept at most; one more drops the older half, as if beyond the horizon. Each
/// is a different line or instruction, so that many within the horizon is more than code does.
const MAX_PENDING: usize = 1 << 18;

impl PendingWrites {
    /// Does a write wait for a fence?
    pub(crate) fn any(&self) -> bool {
        self.entries.iter().any(|e| e.0 > self.settled)
    }

    /// An atomic at `now` has made its store: none up to now has a fence to wait for, though the
    /// distance to the next one counts for it as for others.
    pub(crate) fn settle(&mut self, now: u64) {
        self.settled = waits_from(now, 0);
    }

    /// Adds a write and returns its number.
    #[inline]
    pub(crate) fn push(&mut self, origin: u32, since: u64, hist: &mut FenceHistogram) -> u64 {
        hist.writes += 1;
        if self.entries.len() == self.entries.capacity() {
            self.make_room(since);
        }
        self.entries.push((since, origin));
        self.base + self.entries.len() as u64 - 1
    }

    /// Does the write of this number wait for a fence, as far as is remembered?
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        let at = number.checked_sub(self.base);
        at.is_some_and(|at| at < self.entries.len() as u64)
    }

    /// The write of this number went on until `since`; false: a fence has come since, or the write
    /// paused for longer than the horizon, so that this is another one.
    #[inline]
    pub(crate) fn touch(&mut self, number: u64, since: u64) -> bool {
        let Some(at) = number.checked_sub(self.base) else {
            return false;
        };
        match self.entries.get_mut(at as usize) {
            Some(entry) if since.saturating_sub(entry.0) <= HORIZON => {
                entry.0 = entry.0.max(since);
                true
            }
            _ => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, now: u64) {
        let fresh = |e: &(u64, u32)| now.saturating_sub(e.0) <= HORIZON;
        let mut drop = self.entries.iter().position(fresh);
        if self.entries.len() >= MAX_PENDING {
            drop = drop.max(Some(MAX_PENDING / 2));
        }
        let drop = drop.unwrap_or(self.entries.len());
        self.entries.drain(..drop);
        self.base += drop as u64;
        if self.entries.len() * 2 >= self.entries.capacity() {
            self.entries.reserve(self.entries.len().max(1024));
        }
    }

    /// A fence at `now`: `record(origin, distance)` receives what waits, within the horizon.
    #[inline]
    pub(crate) fn fence(&mut self, now: u64, mut record: impl FnMut(u32, u64)) {
        self.base += self.entries.len() as u64;
        self.fenced = now + 1;
        let now = waits_from(now, 0);
        for (time, origin) in self.entries.drain(..) {
            let distance = now - time;
            if distance <= HORIZON {
                record(origin, distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_exact_below_64_and_close_above() {
        for d in 0..=HORIZON {
            let m = middle(bucket(d));
            assert!(m.abs_diff(d) * 32 <= d, "{d} reads as {m}");
            assert!(d >= 64 || m == d);
        }
    }

    #[test]
    fn a_write_that_no_fence_follows_counts_as_infinite() {
        let mut hist = FenceHistogram::default();
        let mut pending = PendingWrites::default();
        pending.push(0, waits_from(10, 0), &mut hist);
        pending.fence(15, |_, d| hist.record(d));
        for _ in 0..2 {
            pending.push(0, waits_from(20, 0), &mut hist);
        }
        pending.fence(21 + HORIZON, |_, d| hist.record(d));
        assert_eq!(hist.distance().min, Some(5));
        assert_eq!(hist.distance().median, None);
    }

    #[test]
    fn a_touched_write_counts_from_its_last_store() {
        let mut hist = FenceHistogram::default();
        let mut pending = PendingWrites::default();
        let n = pending.push(0, waits_from(10, 0), &mut hist);
        assert!(pending.touch(n, waits_from(14, 0)));
        pending.fence(15, |_, d| hist.record(d));
        assert!(!pending.touch(n, waits_from(16, 0)));
        assert_eq!(hist.distance().min, Some(1));
    }

    #[test]
    fn memory_is_bounded_without_fences() {
        let mut hist = FenceHistogram::default();
        let mut pending = PendingWrites::default();
        for t in 0..3_000_000 {
            pending.push(0, waits_from(t, 0), &mut hist);
        }
        assert!(pending.entries.capacity() <= MAX_PENDING);
    }
}
