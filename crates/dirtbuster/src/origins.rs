//! Where writes come from: a store instruction in a thread, on behalf of a group.

use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use crate::Thresholds;
use crate::contexts::Context;
use crate::far::Far;
use crate::fences::FenceHistogram;
use crate::fresh::Fresh;
use crate::lines::LINE;
use crate::loaded::Loaded;
use crate::lone::Lone;
use crate::met::Met;
use crate::told::Told;
use crate::turns::Turns;
use crate::usage::Usage;

/// What is known of one origin.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The store instruction.
    pub(crate) site: SiteId,
    /// Function or caller, see `groups`.
    pub(crate) group: u32,
    /// Index of the thread in its process.
    pub(crate) thread: u32,
    /// The same for the same thread and group.
    pub(crate) writer: u32,
    /// It is an atomic.
    pub(crate) atomic: bool,
    /// The line written last.
    pub(crate) line: u64,
    /// Lines written other than in sequential contexts, and bytes.
    pub(crate) scattered: Usage,
    pub(crate) scattered_bytes: u64,
    /// Lines that it wrote when an atomic of its thread had just taken them.
    pub(crate) after_atomic: u64,
    /// Sequential contexts by the power of two of their size.
    pub(crate) classes: Vec<SizeClass>,
    /// Lines of which other code of the thread wrote other bytes, just before or after.
    pub(crate) joint: u64,
    /// Lines that other code of the thread wrote again soon, as a fence would have to follow to wait for them.
    pub(crate) returned: u64,
    /// Lines that contexts went on with behind a fence.
    pub(crate) parted: u64,
    pub(crate) loaded: Loaded,
    pub(crate) fresh: Fresh,
    pub(crate) lone: Lone,
    pub(crate) far: Far,
    pub(crate) told: Told,
    pub(crate) fences: FenceHistogram,
    /// Origins whose streaks it went on with, and how often it did.
    pub(crate) met: Met,
}

/// Sequential contexts of about one size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SizeClass {
    pub(crate) log2: u32,
    pub(crate) count: u64,
    /// Sum of their sizes, bytes.
    pub(crate) spans: u64,
    /// Sum of the bytes written in them.
    pub(crate) covered: u64,
    pub(crate) usage: Usage,
    /// Lines that count as re-read near the core: those of an object of which one was.
    pub(crate) reused: u64,
    /// Lines of which other bytes were not written: at the ends of contexts, and those with gaps where half of them have.
    pub(crate) in_part: u64,
}

impl SizeClass {
    pub(crate) fn merge(&mut self, o: &Self) {
        self.count += o.count;
        self.spans += o.spans;
        self.covered += o.covered;
        self.usage.merge(&o.usage);
        self.reused += o.reused;
        self.in_part += o.in_part;
    }

    /// Part of its lines that count as re-read near the core.
    pub(crate) fn reused_share(&self) -> f64 {
        self.usage.reread_near_share(self.reused).min(1.0)
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.reused *= self.usage.weight_of_reads(weight);
        self.usage.scale(weight);
        let sums = [&mut self.count, &mut self.spans, &mut self.covered];
        for n in sums.into_iter().chain([&mut self.in_part]) {
            *n *= weight;
        }
    }
}

/// Adds `class` to the one of its size in `classes`, kept by size.
pub(crate) fn add_class(classes: &mut Vec<SizeClass>, class: &SizeClass) {
    match classes.binary_search_by_key(&class.log2, |c| c.log2) {
        Ok(at) => classes[at].merge(class),
        Err(at) => {
            // Most origins have one: room for more would be most of what an origin takes.
            classes.reserve_exact(1);
            classes.insert(at, *class);
        }
    }
}

/// All origins of a process, and which of them are one write.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    all: Vec<Origin>,
    parent: Vec<u32>,
    /// By writer.
    turns: Vec<Turns>,
    /// Bytes by origin and allocation site.
    pub(crate) allocations: FxHashMap<(u32, SiteId), u64>,
}

/// What the front of the analysis found out about origins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OriginNews {
    /// The next origin.
    New {
        site: SiteId,
        group: u32,
        thread: u32,
        writer: u32,
        atomic: bool,
    },
    /// These two are one write.
    Joined(u32, u32),
}

/// Numbers the origins of a process.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    by_key: FxHashMap<(u32, u32, SiteId), u32>,
    writers: FxHashMap<(u32, u32), u32>,
    pub(crate) news: Vec<OriginNews>,
}

impl Interner {
    /// The origin of the store `site`, `atomic` or not, in `thread` for `group`, new or known.
    pub(crate) fn intern(&mut self, thread: u32, group: u32, site: SiteId, atomic: bool) -> u32 {
        let at = self.by_key.len() as u32;
        if let Some(&known) = self.by_key.get(&(thread, group, site)) {
            return known;
        }
        let next = self.writers.len() as u32;
        let writer = *self.writers.entry((thread, group)).or_insert(next);
        self.news.push(OriginNews::New {
            site,
            group,
            thread,
            writer,
            atomic,
        });
        self.by_key.insert((thread, group, site), at);
        at
    }

    /// `a` and `b` are one write.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        if a != b {
            self.news.push(OriginNews::Joined(a, b));
        }
    }
}

impl Origins {
    /// Takes over what the front found out.
    pub(crate) fn learn(&mut self, news: &[OriginNews]) {
        for n in news {
            match *n {
                OriginNews::Joined(a, b) => self.join(a, b),
                OriginNews::New {
                    site,
                    group,
                    thread,
                    writer,
                    atomic,
                } => {
                    self.parent.push(self.all.len() as u32);
                    let writers = self.turns.len().max(writer as usize + 1);
                    self.turns.resize(writers, Turns::default());
                    self.all.push(Origin {
                        site,
                        group,
                        thread,
                        writer,
                        atomic,
                        line: u64::MAX,
                        scattered: Usage::default(),
                        scattered_bytes: 0,
                        after_atomic: 0,
                        classes: Vec::new(),
                        joint: 0,
                        returned: 0,
                        parted: 0,
                        loaded: Loaded::default(),
                        fresh: Fresh::default(),
                        lone: Lone::default(),
                        far: Far::default(),
                        told: Told::default(),
                        fences: FenceHistogram::default(),
                        met: Met::default(),
                    });
                }
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &Origin {
        &self.all[at as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut Origin {
        &mut self.all[at as usize]
    }

    #[inline]
    pub(crate) fn turns(&mut self, writer: u32) -> &mut Turns {
        &mut self.turns[writer as usize]
    }

    pub(crate) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// One of the origins that are one write with `at`, the same one for all of them.
    #[inline]
    pub(crate) fn root(&self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        at
    }

    /// `origin` goes on with a streak of `first`'s.
    #[inline]
    pub(crate) fn meet(&mut self, first: u32, origin: u32) {
        if first == origin {
            return;
        }
        self.all[origin as usize].met.count(first);
    }

    /// `a` and `b` are one write.
    fn join(&mut self, a: u32, b: u32) {
        let (ra, rb) = (self.root(a), self.root(b));
        let root = ra.min(rb);
        for at in [ra, rb, a, b] {
            self.parent[at as usize] = root;
        }
    }

    /// Accounts a context that has come to its end.
    pub(crate) fn close(&mut self, c: &Context, t: &Thresholds) {
        if c.allocation != SiteId::NONE {
            *self
                .allocations
                .entry((c.origin, c.allocation))
                .or_default() += c.covered;
        }
        let span = c.hi - c.lo;
        let origin = self.get_mut(c.origin);
        if span < t.min_context_bytes {
            origin.scattered.merge(&c.usage);
            origin.scattered_bytes += c.covered;
            return;
        }
        let ends = [c.lo, c.hi]
            .into_iter()
            .filter(|end| !end.is_multiple_of(LINE));
        let object = span <= t.object_bytes && c.usage.reread_near.n > 0;
        let class = SizeClass {
            log2: span.ilog2(),
            count: 1,
            spans: span,
            covered: c.covered,
            usage: c.usage,
            reused: if object {
                c.usage.lines
            } else {
                c.usage.reread_near.n
            },
            in_part: c.with_gaps().max(ends.count() as u64),
        };
        add_class(&mut origin.classes, &class);
    }
}
