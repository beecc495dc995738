//! Following pointers: the latency of each level, and how many misses are under way at once.

use crate::arch::full_fence;
use crate::buffer::{Buffer, LINE};
use crate::curve::Curve;
use crate::figure::{Figure, each, ns};
use crate::{CacheInfo, Effort};

/// Loads between two looks at the clock; divides nothing, only keeps the loop's cost out.
const STEPS: u64 = 64;
/// Loads of a chase through lines just read: done before neighbours push many of them out.
const WARM_STEPS: u64 = 512;

/// The next line of `lines`, at random: by a product, as a remainder would take longer than some lines.
#[inline(always)]
pub(crate) fn random_line(state: &mut u64, lines: u64) -> u64 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    ((*state >> 32) * lines) >> 32
}

/// A ring of pointers through lines of a buffer, in an order that no prefetcher follows.
pub(crate) struct Ring<'a> {
    buffer: &'a Buffer,
    lines: usize,
    /// Lines of each page that it goes through, the first ones.
    of_page: usize,
}

/// Lines of a small page.
pub(crate) const PAGE_LINES: usize = 4096 / LINE;

impl<'a> Ring<'a> {
    /// Through the first `size` bytes of `buffer`, whose lines' first words become the pointers.
    pub fn new(buffer: &'a Buffer, size: usize) -> Ring<'a> {
        Ring::through(buffer, size, PAGE_LINES)
    }

    /// The same through the first half of each page only, so that stores to the second halves are not mistaken for
    /// stores to what is loaded: CPUs compare the low twelve bits of addresses first, and a load waits for such a store.
    pub fn half_pages(buffer: &'a Buffer, size: usize) -> Ring<'a> {
        Ring::through(buffer, size, PAGE_LINES / 2)
    }

    fn through(buffer: &'a Buffer, size: usize, of_page: usize) -> Ring<'a> {
        let lines = (size / LINE).clamp(2, buffer.lines()) * of_page / PAGE_LINES;
        let ring = Ring {
            buffer,
            lines,
            of_page,
        };
        let mut order: Vec<u32> = (0..lines as u32).collect();
        // Sattolo's shuffle: one cycle through all.
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for last in (1..lines).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            order.swap(last, (random % last as u64) as usize);
        }
        let at = |index: usize| ring.line(order[index % lines] as usize);
        for index in 0..lines {
            // SAFETY: a line of the buffer, which has room for a pointer.
            unsafe { at(index).cast::<*mut u8>().write(at(index + 1)) };
        }
        ring
    }

    /// Bytes of the lines it goes through.
    pub fn size(&self) -> usize {
        self.lines * LINE
    }

    /// Lines it goes through.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The line with this number in memory, not in the ring's order.
    pub fn line(&self, number: usize) -> *mut u8 {
        let number = number % self.lines;
        let page = number / self.of_page;
        self.buffer.line(page * PAGE_LINES + number % self.of_page)
    }

    /// Where to begin.
    pub fn start(&self) -> *const u8 {
        self.buffer.start()
    }

    /// Follows `steps` pointers from `at`, each load waiting for the one before; gives where it came to.
    #[inline(never)]
    pub fn follow(&self, mut at: *const u8, steps: u64) -> *const u8 {
        for _ in 0..steps {
            // SAFETY: every line of the ring holds a pointer to another, written by `new` and by nobody since.
            at = unsafe { at.cast::<*const u8>().read_volatile() };
        }
        at
    }

    /// Nanoseconds of a load that waits for the one before.
    pub fn latency(&self, effort: Effort) -> Vec<f64> {
        // Once around first, so that what fits into a cache is there.
        let mut at = self.follow(self.start(), self.lines.min(1 << 20) as u64);
        let runs = each(effort, |times| at = self.follow(at, times * STEPS));
        runs.iter().map(|ns| ns / STEPS as f64).collect()
    }

    /// The same of a short chase each run, right after all lines were read in memory's order: loads that need not wait
    /// for each other bring them faster than neighbours push them out of a shared cache, as most programs' do.
    pub fn latency_warmed(&self, effort: Effort) -> Vec<f64> {
        let mut at = self.start();
        let run = || {
            for line in 0..self.lines {
                // SAFETY: a line of the ring.
                unsafe { self.line(line).cast::<u64>().read_volatile() };
            }
            full_fence();
            let steps = WARM_STEPS.min(self.lines as u64);
            let time = ns(|| at = self.follow(at, steps));
            time / steps as f64
        };
        std::iter::repeat_with(run).take(effort.runs()).collect()
    }

    /// Nanoseconds of a load where `N` chains are followed at once.
    fn parallel<const N: usize>(&self, effort: Effort) -> Vec<f64> {
        let loads = N as f64;
        let steps = self.steps::<N>(effort, || ());
        steps.iter().map(|ns| ns / loads).collect()
    }

    /// Nanoseconds of a load in each of `N` chains, with something `beside` it that does not wait for them.
    pub fn steps<const N: usize>(&self, effort: Effort, mut beside: impl FnMut()) -> Vec<f64> {
        let mut at: [*const u8; N] = [self.start(); N];
        for (chain, place) in at.iter_mut().enumerate() {
            *place = self.line(chain * self.lines / N);
        }
        let runs = each(effort, |times| {
            for _ in 0..times * STEPS {
                for place in &mut at {
                    // SAFETY: as in `follow`.
                    *place = unsafe { place.cast::<*const u8>().read_volatile() };
                }
                beside();
            }
        });
        runs.iter().map(|ns| ns / STEPS as f64).collect()
    }
}

/// Latency of a cache.
pub(crate) fn level_latency(
    buffer: &Buffer,
    effort: Effort,
    nearer: Option<&CacheInfo>,
    cache: &CacheInfo,
) -> Option<Figure> {
    match nearer {
        None => {
            let ring = Ring::new(buffer, cache.size as usize / 2);
            let how = format!("pointer chase through {} KiB", ring.size() >> 10);
            Figure::of(&ring.latency(effort), "ns", how)
        }
        // Most of it is beyond the nearer cache, and a small part of this one.
        Some(nearer) => {
            let between = (nearer.size as f64 * cache.size as f64).sqrt() as usize;
            let ring = Ring::new(buffer, between.min(cache.size as usize / 2));
            let how = format!("pointer chase through {} KiB just read", ring.size() >> 10);
            Figure::of(&ring.latency_warmed(effort), "ns", how)
        }
    }
}

/// Latency over the size of what is chased through, up to `most` bytes.
pub(crate) fn by_size(buffer: &Buffer, effort: Effort, most: usize) -> Curve {
    let mut curve = Curve {
        name: "load latency".into(),
        over: "bytes chased through",
        unit: "ns",
        how: "pointer chase in random order, lines just read".into(),
        points: Vec::new(),
    };
    let mut size = 8 << 10;
    while size <= most {
        curve.push(size as u64, &Ring::new(buffer, size).latency_warmed(effort));
        size *= 2;
    }
    curve
}

/// Time of a load from memory over the number of chains followed at once.
pub(crate) fn by_parallelism(ring: &Ring, effort: Effort) -> Curve {
    let mut curve = Curve {
        name: "load from memory, several at once".into(),
        over: "loads at once",
        unit: "ns",
        how: format!(
            "pointer chases side by side through {} MiB",
            ring.size() >> 20
        ),
        points: Vec::new(),
    };
    curve.push(1, &ring.parallel::<1>(effort));
    curve.push(2, &ring.parallel::<2>(effort));
    curve.push(4, &ring.parallel::<4>(effort));
    curve.push(8, &ring.parallel::<8>(effort));
    curve.push(12, &ring.parallel::<12>(effort));
    curve.push(16, &ring.parallel::<16>(effort));
    curve.push(24, &ring.parallel::<24>(effort));
    curve.push(32, &ring.parallel::<32>(effort));
    curve.push(48, &ring.parallel::<48>(effort));
    curve
}

/// Misses under way at once: latency of one over time of one where there are plenty (Little's law).
pub(crate) fn parallelism(curve: &Curve) -> Option<Figure> {
    let alone = curve.median(1)?;
    let best = curve
        .points
        .iter()
        .min_by(|a, b| a.summary.median.total_cmp(&b.summary.median))?;
    let how = format!(
        "latency of a load from memory over its time with {} at once, the number that is best",
        best.at
    );
    best.figure(|ns| alone / ns, how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_visits_every_line_once() {
        let buffer = Buffer::new(100 * LINE).unwrap();
        let ring = Ring::new(&buffer, 50 * LINE);
        let mut seen = std::collections::BTreeSet::new();
        let mut at = ring.start();
        for _ in 0..50 {
            assert!(seen.insert(at.addr()), "a line twice");
            at = ring.follow(at, 1);
        }
        assert_eq!(at, ring.start());
    }
}
