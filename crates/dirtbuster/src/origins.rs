//! Where writes come from: a store instruction in a thread, on behalf of a group.

use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use crate::Thresholds;
use crate::contexts::Context;
use crate::lines::LINE;
use crate::met::Met;
use crate::turns::Turns;
use crate::written::{SizeClass, Written, add_class};

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
    /// What became of what it wrote. Of most stores of a large program that is nothing: what they write is accounted to the first of their
    /// write.
    pub(crate) written: Option<Box<Written>>,
    /// Origins whose streaks it went on with, and how often it did.
    pub(crate) met: Met,
}

impl Origin {
    #[inline]
    pub(crate) fn written(&mut self) -> &mut Written {
        self.written.get_or_insert_default()
    }
}

/// All origins of a process, and which of them are one write.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    all: Vec<Origin>,
    parent: Vec<u32>,
    /// By writer.
    turns: Vec<Turns>,
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
                        written: None,
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

    pub(crate) fn into_all(self) -> impl Iterator<Item = Origin> {
        self.all.into_iter()
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
        let written = self.get_mut(c.origin).written();
        if c.allocation != SiteId::NONE {
            *written.allocations.entry(c.allocation).or_default() += c.covered;
        }
        let span = c.hi - c.lo;
        if span < t.min_context_bytes {
            written.scattered.merge(&c.usage);
            written.scattered_bytes += c.covered;
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
        add_class(&mut written.classes, &class);
    }
}
