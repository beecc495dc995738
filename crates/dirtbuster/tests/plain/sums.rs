//! What is left at the end: sums, by the sites that wrote together.

use std::collections::BTreeMap;

use prestore_dirtbuster::{ContextClass, Distance, FenceDistance, Thresholds};
use prestore_trace::SiteId;

use super::{Context, Owner, Plain};

#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub lines: u64,
    pub(super) rereads: Vec<u64>,
    pub(super) rewrites: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Part {
    pub scattered: Sums,
    pub scattered_bytes: u64,
    pub(super) contexts: Vec<Context>,
    /// Distance of the fence of each write.
    pub fences: Vec<Option<u64>>,
    pub stores: u64,
}

impl Plain {
    /// Ends the run: what each set of sites did, by its sites.
    pub fn finish(mut self) -> BTreeMap<Vec<SiteId>, Part> {
        for (line, l) in self.lines.clone() {
            if let Some(Owner::Single(o)) = l.owner {
                let c = self.as_context(line, o);
                let part = self.parts.entry(o).or_default();
                part.scattered_bytes += c.covered;
                part.scattered.lines += 1;
                part.scattered.rereads.extend(c.sums.rereads);
            }
        }
        let open = (0..self.contexts.len()).filter(|i| !self.contexts[*i].gone);
        open.collect::<Vec<_>>()
            .into_iter()
            .for_each(|i| self.close(i));
        for (origin, _) in self.pending.values().flatten() {
            self.parts.entry(*origin).or_default().fences.push(None);
        }
        let mut sets: Vec<Vec<SiteId>> = Vec::new();
        let all = self
            .parts
            .keys()
            .map(|o| (*o, *o))
            .chain(self.same.iter().copied());
        for (a, b) in all {
            let (joined, rest): (Vec<_>, Vec<_>) = sets
                .into_iter()
                .partition(|s| s.contains(&a.1) || s.contains(&b.1));
            let mut set: Vec<SiteId> = joined.concat();
            set.extend([a.1, b.1]);
            set.sort();
            set.dedup();
            sets = rest;
            sets.push(set);
        }
        let mut result: BTreeMap<Vec<SiteId>, Part> = BTreeMap::new();
        for (origin, part) in self.parts {
            let set = sets.iter().find(|s| s.contains(&origin.1)).unwrap();
            let sum = result.entry(set.clone()).or_default();
            sum.stores += part.stores;
            sum.scattered_bytes += part.scattered_bytes;
            sum.scattered.add(&part.scattered);
            sum.contexts.extend(part.contexts);
            sum.fences.extend(part.fences);
        }
        result
    }
}
impl Sums {
    fn add(&mut self, o: &Self) {
        self.lines += o.lines;
        self.rereads.extend(&o.rereads);
        self.rewrites.extend(&o.rewrites);
    }

    pub fn reread(&self) -> Distance {
        mean(&self.rereads, self.lines)
    }

    pub fn rewrite(&self) -> Distance {
        mean(&self.rewrites, self.lines)
    }
}

fn mean(all: &[u64], lines: u64) -> Distance {
    let n = all.len() as u64;
    Distance {
        mean: (n > 0).then(|| all.iter().sum::<u64>() as f64 / n as f64),
        share: if lines == 0 {
            0.0
        } else {
            n as f64 / lines as f64
        },
    }
}

impl Part {
    /// Sequential contexts by power of two of their size; and all lines' sums; sequential share.
    pub fn report(&self, t: &Thresholds) -> (Vec<ContextClass>, Sums, f64) {
        let mut classes: BTreeMap<u32, (u64, u64, u64, Sums)> = BTreeMap::new();
        let (mut whole, mut scattered) = (self.scattered.clone(), self.scattered_bytes);
        let mut covered = 0;
        for c in &self.contexts {
            let span = c.hi - c.lo;
            whole.add(&c.sums);
            if span < t.min_context_bytes {
                scattered += c.covered;
                continue;
            }
            covered += c.covered;
            let class = classes.entry(span.ilog2()).or_default();
            class.0 += 1;
            class.1 += span;
            class.2 += c.covered;
            class.3.add(&c.sums);
        }
        let classes = classes
            .values()
            .map(|(count, spans, bytes, sums)| ContextClass {
                bytes: spans / count,
                share: *bytes as f64 / covered as f64,
                count: *count,
                reread: sums.reread(),
                rewrite: sums.rewrite(),
                reread_near: Distance::default(),
                rewrite_near: Distance::default(),
            });
        let total = covered + scattered;
        let share = if total == 0 {
            0.0
        } else {
            covered as f64 / total as f64
        };
        (classes.collect(), whole, share)
    }

    pub fn fence(&self) -> FenceDistance {
        let mut finite: Vec<u64> = self.fences.iter().flatten().copied().collect();
        finite.sort_unstable();
        FenceDistance {
            min: finite.first().copied(),
            median: finite.get(self.fences.len() / 2).copied(),
        }
    }
}
