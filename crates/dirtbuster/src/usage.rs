//! How written lines were used: the sums behind re-read and re-write distances.

use crate::cores::Core;
use crate::findings::Distance;
use crate::words::of;

/// Sums over the writings of lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Writings of a line; a streak is one.
    pub(crate) lines: u64,
    /// Of them, those that were read before they were written again.
    reread: Events,
    /// Read while still near the writer's core.
    pub(crate) reread_near: Events,
    /// Those that were written again.
    rewritten: Events,
    /// Written again while still near the core.
    pub(crate) rewritten_near: Events,
    /// Written again while any cache holds it, of those that cores share in the thread's part.
    pub(crate) rewritten_cached: Events,
    /// Written again while still within reach.
    pub(crate) rewritten_reach: Events,
    /// Flushed after this writing.
    pub(crate) flushed: u64,
    /// Lines that had to be got from another core: it had read them, or written them.
    pub(crate) taken: u64,
    pub(crate) returns: Returns,
    /// Lines with a fence between two of their stores.
    pub(crate) cut: u64,
    unknown: Unknown,
}

/// How often something happened, and after how many instructions, summed up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Events {
    pub(crate) n: u64,
    sum: u64,
}

/// Lines of which nobody saw whether something would happen to them, as a part of the run began that was left out.
#[derive(Clone, Copy, Debug, Default)]
struct Unknown {
    reread_near: u32,
    rewritten_near: u32,
    rewritten_cached: u32,
    rewritten_reach: u32,
}

/// Writes that come back to a line which was not complete when its writer went on to other
/// sequential contexts: more than can be open without it being sent out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Returns {
    /// Lines that were come back to.
    pub(crate) lines: u64,
    /// How often.
    pub(crate) n: u64,
    /// Turns to another context since the visit before, summed up.
    pub(crate) turns: u64,
}

impl Events {
    #[inline]
    fn add(&mut self, distance: u64) {
        self.n += 1;
        self.sum += distance;
    }

    fn merge(&mut self, o: &Self) {
        self.n += o.n;
        self.sum += o.sum;
    }

    fn scale(&mut self, weight: u64) {
        self.n *= weight;
        self.sum = self.sum.saturating_mul(weight);
    }

    /// Mean distance, `None` where there were none.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// Of so many lines, of which it is not known of some.
    fn of(&self, lines: u64, unknown: u32) -> Distance {
        Distance {
            mean: self.mean(),
            share: share_of(self.n, lines, unknown),
        }
    }
}

fn share_of(n: u64, lines: u64, unknown: u32) -> f64 {
    of(n, lines.saturating_sub(u64::from(unknown)))
}

/// By how much what is known of lines counts where each counts `weight` times. Where most is not known, what is known is what
/// happened soon: it counts once, so that parts of the run of which more is known decide.
fn weight_of_known(lines: u64, unknown: u32, weight: u64) -> u64 {
    match u64::from(unknown) * 2 > lines {
        true => 1,
        false => weight,
    }
}

/// Of so many lines those to which it did not happen `n` times; what is not known is like what is.
fn rest_of(n: u64, lines: u64, unknown: u32) -> u64 {
    if unknown == 0 {
        return lines.saturating_sub(n);
    }
    (lines as f64 * (1.0 - share_of(n, lines, unknown)).max(0.0)) as u64
}

/// Of a line that was written last before something was left out: what may have happened to it there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    age: Age,
    /// It was not read yet, and would have been found near.
    unread: bool,
}

impl Open {
    /// A line that the thread of `core` wrote at its `time`; `None`: it was no longer in any cache.
    pub(crate) fn of(core: &Core, time: u64, unread: bool) -> Option<Self> {
        let age = Age::of(core, time);
        let unread = unread && core.kept(time);
        (age.within_reach || unread).then_some(Self { age, unread })
    }
}

impl Unknown {
    fn add(&mut self, o: Self) {
        for (sum, n) in self.all().into_iter().zip({ o }.all()) {
            *sum = sum.saturating_add(*n);
        }
    }

    fn all(&mut self) -> [&mut u32; 4] {
        [
            &mut self.reread_near,
            &mut self.rewritten_near,
            &mut self.rewritten_cached,
            &mut self.rewritten_reach,
        ]
    }
}

/// Where a line is when it is written again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Age {
    near: bool,
    cached: bool,
    within_reach: bool,
}

impl Age {
    /// What the thread of `core` wrote at its `time`.
    pub(crate) fn of(core: &Core, time: u64) -> Self {
        Self {
            near: core.near(time),
            cached: core.cached(time),
            within_reach: core.within_reach(time),
        }
    }

    /// Is it in any cache, of those that cores share in the thread's part?
    pub(crate) fn is_cached(self) -> bool {
        self.cached
    }
}

impl Usage {
    #[inline]
    pub(crate) fn read_after(&mut self, distance: u64, near: bool) {
        self.reread.add(distance);
        if near {
            self.reread_near.add(distance);
        }
    }

    #[inline]
    pub(crate) fn written_after(&mut self, distance: u64, age: Age) {
        self.rewritten.add(distance);
        if age.near {
            self.rewritten_near.add(distance);
        }
        if age.cached {
            self.rewritten_cached.add(distance);
        }
        if age.within_reach {
            self.rewritten_reach.add(distance);
        }
    }

    /// What becomes of a line is not known.
    pub(crate) fn leave_open(&mut self, line: Open) {
        let u = &mut self.unknown;
        u.add(Unknown {
            reread_near: line.unread.into(),
            rewritten_near: line.age.near.into(),
            rewritten_cached: line.age.cached.into(),
            rewritten_reach: line.age.within_reach.into(),
        });
    }

    /// Part of the lines that `n` of them are which were read near the core.
    pub(crate) fn reread_near_share(&self, n: u64) -> f64 {
        share_of(n, self.lines, self.unknown.reread_near)
    }

    pub(crate) fn rewritten_near_share(&self) -> f64 {
        share_of(
            self.rewritten_near.n,
            self.lines,
            self.unknown.rewritten_near,
        )
    }

    /// Part of the lines that `n` of them are which were written again while cached.
    pub(crate) fn rewritten_cached_share(&self, n: u64) -> f64 {
        share_of(n, self.lines, self.unknown.rewritten_cached)
    }

    /// Share of the lines of which it was not seen whether they are written again while cached, as a stretch of the run ended before.
    pub(crate) fn open_share(&self) -> f64 {
        of(u64::from(self.unknown.rewritten_cached), self.lines)
    }

    pub(crate) fn rewritten_reach_share(&self) -> f64 {
        share_of(
            self.rewritten_reach.n,
            self.lines,
            self.unknown.rewritten_reach,
        )
    }

    /// Share of the lines in which a fence came between two stores. A line that two contexts are at by turns is told of each time.
    pub(crate) fn cut_share(&self) -> f64 {
        of(self.cut, self.lines).min(1.0)
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.lines += o.lines;
        self.reread.merge(&o.reread);
        self.reread_near.merge(&o.reread_near);
        self.rewritten.merge(&o.rewritten);
        self.rewritten_near.merge(&o.rewritten_near);
        self.rewritten_cached.merge(&o.rewritten_cached);
        self.rewritten_reach.merge(&o.rewritten_reach);
        self.flushed += o.flushed;
        self.taken += o.taken;
        self.cut += o.cut;
        self.unknown.add(o.unknown);
        self.returns.lines += o.returns.lines;
        self.returns.n += o.returns.n;
        self.returns.turns += o.returns.turns;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        let Self {
            lines,
            reread,
            reread_near,
            rewritten,
            rewritten_near,
            rewritten_cached,
            rewritten_reach,
            flushed,
            taken,
            returns,
            cut,
            unknown,
        } = self;
        let near = [
            reread_near,
            rewritten_near,
            rewritten_cached,
            rewritten_reach,
        ];
        for (events, unknown) in near.into_iter().zip(unknown.all()) {
            let known = lines.saturating_sub(u64::from(*unknown));
            let of_known = weight_of_known(*lines, *unknown, weight);
            events.scale(of_known);
            let rest = (*lines * weight).saturating_sub(known * of_known);
            *unknown = u32::try_from(rest).unwrap_or(u32::MAX);
        }
        reread.scale(weight);
        rewritten.scale(weight);
        let returned = [&mut returns.lines, &mut returns.n, &mut returns.turns];
        for n in returned.into_iter().chain([lines, flushed, taken, cut]) {
            *n *= weight;
        }
    }

    /// By how much what was read near the core is to count where lines count `weight` times.
    pub(crate) fn weight_of_reads(&self, weight: u64) -> u64 {
        weight_of_known(self.lines, self.unknown.reread_near, weight)
    }

    /// Lines that left for memory: those that were not written again while cached.
    pub(crate) fn to_memory(self) -> u64 {
        rest_of(
            self.rewritten_cached.n,
            self.lines,
            self.unknown.rewritten_cached,
        )
    }

    /// Lines that had to be got from afar to be written: those that were not written again near the core.
    pub(crate) fn fetched(self) -> u64 {
        rest_of(
            self.rewritten_near.n,
            self.lines,
            self.unknown.rewritten_near,
        )
    }

    pub(crate) fn reread_distance(&self) -> Distance {
        self.reread.of(self.lines, 0)
    }

    pub(crate) fn rewrite_distance(&self) -> Distance {
        self.rewritten.of(self.lines, 0)
    }

    pub(crate) fn reread_near_distance(&self) -> Distance {
        self.reread_near.of(self.lines, self.unknown.reread_near)
    }

    pub(crate) fn rewrite_cached_distance(&self) -> Distance {
        self.rewritten_cached
            .of(self.lines, self.unknown.rewritten_cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 100 lines 36 are written again, as was seen in a part of the run that was recorded whole; in one that counts four times, most
    /// are left open.
    #[test]
    fn parts_of_which_little_is_known_do_not_decide() {
        let seen = |lines: u64, again: u64, open: u32| {
            let mut usage = Usage {
                lines,
                ..Usage::default()
            };
            usage.rewritten_cached.n = again;
            usage.unknown.rewritten_cached = open;
            usage
        };
        let share = |u: &Usage| u.rewritten_cached_share(u.rewritten_cached.n);
        for (open, expected) in [(90, 46.0 / 110.0), (40, (36.0 + 40.0) / (100.0 + 240.0))] {
            let (mut all, mut thin) = (seen(100, 36, 0), seen(100, 10, open));
            let alone = share(&thin);
            thin.scale(4);
            assert!((share(&thin) - alone).abs() < 1e-9);
            all.merge(&thin);
            assert!((share(&all) - expected).abs() < 1e-9, "{all:?}");
            assert_eq!(all.to_memory(), (500.0 * (1.0 - expected)) as u64);
        }
    }

    #[test]
    fn no_more_than_all_lines_are_parted_by_fences() {
        let usage = Usage {
            lines: 20,
            cut: 21,
            ..Usage::default()
        };
        assert!((usage.cut_share() - 1.0).abs() < 1e-9);
        assert!(Usage::default().cut_share().abs() < 1e-9);
    }
}
