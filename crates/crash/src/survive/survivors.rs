//! All images of a log, each once.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::fingerprint::Fingerprint;
use super::image::{CrashImage, Memory};
use super::log::Log;
use super::pending::Pending;
use super::pick::{Chance, random, worst};
use super::place::keep;
use super::view::View;
use crate::image::Domain;

/// What became of a round of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried<B> {
    /// Images that were given, each other than all before.
    pub images: u64,
    /// There are no others.
    pub complete: bool,
    /// What the check ended it with.
    pub stopped: Option<B>,
}

/// Images of a log that were not given yet. Memory: one copy of the image, and 40 bytes for each image
/// that was given.
///
/// ```
/// use std::ops::ControlFlow;
/// use prestore_crash::{Domain, Log, Survivors};
///
/// // A mark that may survive without the data it is for.
/// let mut log = Log::new(vec![0; 128]);
/// log.store(64, &7u64.to_le_bytes()).store(0, &[1]);
/// log.flush(64).flush(0).fence();
/// let mut survivors = Survivors::new(&log, Domain::Adr);
/// let tried = survivors.systematic(1000, |image| match image.bytes() {
///     bytes if bytes[0] == 1 && bytes[64] != 7 => ControlFlow::Break(image.place()),
///     _ => ControlFlow::Continue(()),
/// });
/// assert_eq!(tried.stopped.map(|place| place.lost[0].offset), Some(64));
/// ```
#[derive(Clone, Debug)]
pub struct Survivors<'l> {
    log: &'l Log,
    domain: Domain,
    points: Vec<usize>,
    from: usize,
    seen: FxHashSet<Fingerprint>,
}

/// Picks at a point for which it is worth looking at it.
const FEW: u64 = 4;
/// So many images that were given before, and so many for each that is to be given, end a point.
const VAIN: u64 = 256;
const VAIN_EACH: u64 = 4;
/// Attempts to find another image at one place.
const ATTEMPTS: u32 = 4;

impl<'l> Survivors<'l> {
    /// None was given yet. Takes the time of a walk through the log.
    pub fn new(log: &'l Log, domain: Domain) -> Self {
        let mut pending = Pending::new(log, domain);
        let mut points = Vec::new();
        for event in 0..log.events().len() {
            let mut any = false;
            pending.step(&mut |_| any = true);
            if any {
                points.push(event);
            }
        }
        points.push(log.events().len());
        Self {
            log,
            domain,
            points,
            from: 0,
            seen: FxHashSet::default(),
        }
    }

    /// The power stays until `events` have happened.
    #[must_use]
    pub fn after(mut self, events: usize) -> Self {
        self.from = events.min(self.log.events().len());
        self.points.retain(|&p| p >= self.from);
        self
    }

    /// The numbers of events behind which something is made persistent, and the end: what is possible at
    /// any time is possible at one of them.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    /// At each point: all that waits is lost, all is kept, every second line is, each line alone is
    /// lost or kept, each store is torn or the last; where there are few ways, all of them. `most` images
    /// at most, spread over all points.
    pub fn systematic<B>(
        &mut self,
        most: u64,
        mut check: impl FnMut(&CrashImage<'_>) -> ControlFlow<B>,
    ) -> Tried<B> {
        let points = self.points.clone();
        let stride = (points.len() as u64 * FEW).div_ceil(most.max(1)).max(1) as usize;
        let mut walk = Walk::new(self);
        let mut complete = stride == 1;
        let (mut left, mut kept) = (most, Vec::new());
        let looked_at = points.len().div_ceil(stride);
        // Counted from the end, where all that was never flushed waits.
        let chosen = points.iter().rev().step_by(stride).rev();
        for (done, &point) in chosen.enumerate() {
            walk.to(point);
            let mut here = left / (looked_at - done) as u64;
            here = here.max(1).min(left);
            // Where much waits for long, most of what may be lost of it was lost at an earlier point, too.
            let mut vain = VAIN.max(here.saturating_mul(VAIN_EACH));
            let view = std::mem::take(&mut walk.view);
            let mut stopped = None;
            let all = worst(&view, here, &mut kept, |kept| {
                if here == 0 || vain == 0 {
                    return false;
                }
                match walk.give(&view, kept, &mut check) {
                    Some(ControlFlow::Break(b)) => stopped = Some(b),
                    Some(ControlFlow::Continue(())) => (here, left) = (here - 1, left - 1),
                    None => vain -= 1,
                }
                stopped.is_none()
            });
            walk.view = view;
            complete &= all;
            if stopped.is_some() {
                return walk.tried(false, stopped);
            }
        }
        walk.tried(complete, None)
    }

    /// `count` images by chance, the same for the same `seed` and the same images before: power cuts at any
    /// event, half of them at points. Fewer, where no others are found.
    pub fn random<B>(
        &mut self,
        count: u64,
        seed: u64,
        mut check: impl FnMut(&CrashImage<'_>) -> ControlFlow<B>,
    ) -> Tried<B> {
        let mut chance = Chance::new(seed);
        let mut images = 0;
        loop {
            let cuts = self.cuts(count - images, &mut chance);
            let mut walk = Walk::new(self);
            let mut kept = Vec::new();
            for &cut in &cuts {
                walk.to(cut);
                let view = std::mem::take(&mut walk.view);
                for _ in 0..ATTEMPTS {
                    random(&view, &mut kept, &mut chance);
                    match walk.give(&view, &kept, &mut check) {
                        Some(ControlFlow::Break(b)) => {
                            images += walk.images;
                            return Tried {
                                images,
                                complete: false,
                                stopped: Some(b),
                            };
                        }
                        Some(ControlFlow::Continue(())) => break,
                        None => {}
                    }
                }
                walk.view = view;
            }
            let new = walk.images;
            images += new;
            if images >= count || new * 50 < cuts.len() as u64 {
                return Tried {
                    images,
                    complete: false,
                    stopped: None,
                };
            }
        }
    }

    /// Places of `count` power cuts, upwards.
    fn cuts(&self, count: u64, chance: &mut Chance) -> Vec<usize> {
        let events = (self.log.events().len() - self.from) as u64 + 1;
        let mut cuts: Vec<usize> = (0..count)
            .map(|i| match i % 2 {
                0 => self.points[chance.below(self.points.len() as u64) as usize],
                _ => self.from + chance.below(events) as usize,
            })
            .collect();
        cuts.sort_unstable();
        cuts
    }
}

/// One way through the log.
struct Walk<'s, 'l> {
    pending: Pending<'l>,
    memory: Memory,
    view: View,
    seen: &'s mut FxHashSet<Fingerprint>,
    under: Vec<(u64, u64)>,
    images: u64,
}

impl<'s, 'l> Walk<'s, 'l> {
    fn new(survivors: &'s mut Survivors<'l>) -> Self {
        Self {
            pending: Pending::new(survivors.log, survivors.domain),
            memory: Memory::new(survivors.log.initial()),
            view: View::default(),
            seen: &mut survivors.seen,
            under: Vec::new(),
            images: 0,
        }
    }

    fn to(&mut self, events: usize) {
        let memory = &mut self.memory;
        while self.pending.events < events {
            self.pending.step(&mut |word| {
                memory.write(word);
            });
        }
        self.view.fill(&self.pending, &self.memory);
    }

    /// Gives `check` the image, if it is a new one.
    fn give<B>(
        &mut self,
        view: &View,
        kept: &[bool],
        check: &mut impl FnMut(&CrashImage<'_>) -> ControlFlow<B>,
    ) -> Option<ControlFlow<B>> {
        keep(&mut self.memory, view, kept, &mut self.under);
        let new = self.seen.insert(self.memory.fingerprint());
        let said = new.then(|| {
            self.images += 1;
            check(&CrashImage {
                number: self.seen.len() as u64 - 1,
                bytes: self.memory.bytes(),
                events: self.pending.events,
                view,
                kept,
            })
        });
        for (place, value) in self.under.drain(..).rev() {
            self.memory.take_back(place, value);
        }
        said
    }

    fn tried<B>(&self, complete: bool, stopped: Option<B>) -> Tried<B> {
        Tried {
            images: self.images,
            complete,
            stopped,
        }
    }
}
