//! Which stores belong together, and what they add up to.

use prestore_trace::SiteId;
use prestore_trace::replay::CallTree;
use rustc_hash::FxHashMap;

use crate::executed::{Executed, Place, chain};
use crate::findings::{ContextClass, Finding, LineShare};
use crate::groups::{Group, Groups};
use crate::ledger::Ledger;
use crate::lines::LINE;
use crate::summary::{Whole, share};
use crate::together;
use crate::usage::Usage;
use crate::verdict::{self, Evidence};
use crate::written::{SizeClass, Written};
use crate::{Thresholds, cost};

/// Places that write the same data, added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    /// With stores and bytes.
    places: Vec<(Place, u64, u64)>,
    bytes: u64,
    non_temporal: u64,
    /// Lines that its non-temporal stores sent to memory, whole or in part.
    sent_out: u64,
    atomic: u64,
    written: Written,
}

/// Adds up places by what they write together.
pub(crate) fn clusters<O>(ledger: &Ledger, groups: &Groups<O>) -> Vec<Cluster> {
    let mut joined = together::joined(ledger);
    let mut first_of_caller: FxHashMap<u32, Place> = FxHashMap::default();
    for &place in ledger.written.keys() {
        if !matches!(groups.get(place.1), Group::Function(_)) {
            let first = *first_of_caller.entry(place.1).or_insert(place);
            joined.join(place, first);
        }
    }
    let mut clusters: FxHashMap<Place, Cluster> = FxHashMap::default();
    for (place, of_place) in &ledger.written {
        let cluster = clusters.entry(joined.root(*place)).or_default();
        if let Some(of_place) = of_place {
            cluster.written.add(of_place);
        }
    }
    let executed = ledger.executed.iter();
    for (place, e) in executed.filter(|(_, e)| e.stores > 0) {
        let root = joined.root(*place);
        if let Some(cluster) = clusters.get_mut(&root) {
            cluster.places.push((*place, e.stores, e.bytes));
            cluster.bytes += e.bytes;
            cluster.non_temporal += e.non_temporal;
            cluster.atomic += e.atomic;
            cluster.sent_out += ledger.sent_out(*place);
        }
    }
    clusters
        .into_values()
        .filter(|c| !c.places.is_empty())
        .collect()
}

impl Cluster {
    fn stores(&self) -> u64 {
        self.places.iter().map(|p| p.1).sum()
    }

    /// A sum over all that it wrote, sequentially or not.
    fn sum(&self, of: fn(Usage) -> u64) -> u64 {
        let sequential: u64 = self.written.classes.iter().map(|c| of(c.usage)).sum();
        sequential + of(self.written.scattered)
    }

    /// Lines that left for memory: those that caches gave up, and what non-temporal stores sent out, however soon it was
    /// written again.
    pub(crate) fn to_memory(&self) -> u64 {
        self.sum(Usage::to_memory).max(self.sent_out)
    }

    /// Bytes stored, plus those of the lines that left for memory.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.bytes + self.to_memory() * LINE
    }

    /// Part in `written`, the whole program's.
    pub(crate) fn share_of(&self, written: u64) -> f64 {
        share(self.written_bytes(), written)
    }

    /// Lines got from another core.
    pub(crate) fn taken(&self) -> u64 {
        self.sum(|u| u.taken)
    }

    /// Time that getting its lines takes, or writing them past the cache.
    pub(crate) fn moving(&self, t: &Thresholds) -> u64 {
        let moved = self.sum(Usage::fetched).max(self.sent_out);
        cost::lines(moved + self.taken(), t)
    }

    /// Where most of its stores are non-temporal: the place that stores most, and how all lines
    /// were used.
    pub(crate) fn around_the_cache(&self) -> Option<(Place, Usage)> {
        if self.non_temporal * 2 <= self.stores() {
            return None;
        }
        let most = self.places.iter().max_by_key(|p| (p.2, p.1, p.0))?;
        let mut usage = self.written.scattered;
        for class in &self.written.classes {
            usage.merge(&class.usage);
        }
        Some((most.0, usage))
    }

    pub(crate) fn finding<O>(
        mut self,
        groups: &Groups<O>,
        tree: &CallTree,
        executed: &FxHashMap<Place, Executed>,
        whole: &Whole,
        t: &Thresholds,
    ) -> Finding {
        // One repeated store writes what thousands of others do.
        self.places
            .sort_by_key(|p| (std::cmp::Reverse((p.2, p.1)), p.0));
        let stores = self.stores();
        let group = groups.get(self.places[0].0.1);
        let mut sequential = SizeClass::default();
        for class in &self.written.classes {
            sequential.merge(class);
        }
        let mut usage = sequential.usage;
        usage.merge(&self.written.scattered);
        let time = cost::stores(stores, self.bytes, t) + self.moving(t);
        let evidence = Evidence {
            stores,
            bytes: self.bytes,
            generic_writer: !matches!(group, Group::Function(_)),
            time,
            write_share: self.share_of(whole.written),
            sequential_share: share(
                sequential.covered,
                sequential.covered + self.written.scattered_bytes,
            ),
            sequential,
            whole: usage,
            scattered: self.written.scattered,
            classes: &self.written.classes,
            in_part: sequential.in_part.max(self.written.joint),
            parted: self.written.parted,
            writers: self.written.writers,
            returned: self.written.returned,
            fences: self.written.fences.fences,
            in_place_share: self.written.loaded.share(),
            lone: self.written.lone,
            fresh_share: self.written.fresh.share(),
            anew_share: self.written.fresh.share_anew(),
            far: self.written.far,
            told: self.written.told,
            fence: self.written.fences.distance(),
            non_temporal_share: share(self.non_temporal, stores),
            atomic_share: share(self.atomic + self.written.after_atomic, stores).min(1.0),
        };
        let decision = verdict::decide(&evidence, whole.program, t);
        let mut allocations: Vec<(SiteId, u64)> = self.written.allocations.drain().collect();
        allocations.sort_by_key(|a| (std::cmp::Reverse(a.1), a.0));
        let chain = chain(self.places[0].0, groups, tree, executed);
        Finding {
            sites: self.sites(),
            call_chain: chain.calls,
            entered: chain.entered,
            generic_writer: evidence.generic_writer,
            verdict: decision.verdict,
            reason: decision.reason,
            dismissed: decision.dismissed,
            cache_limit: decision.limit,
            written_once: decision.written_once,
            stores,
            store_bytes: self.bytes,
            store_share: share(stores, whole.stores),
            lines_to_memory: self.to_memory(),
            stretches: if whole.seen.every == 1 {
                0
            } else {
                let executed = self.places.iter().filter_map(|p| executed.get(&p.0));
                let most = executed.map(|e| e.windows).max().unwrap_or_default();
                most.min(whole.seen.stretches)
            },
            write_share: evidence.write_share,
            time_share: if whole.time.total > 0.0 {
                time as f64 / whole.time.total
            } else {
                0.0
            },
            sequential_share: evidence.sequential_share,
            contexts: context_classes(&self.written.classes, sequential.covered),
            reread: usage.reread_distance(),
            rewrite: usage.rewrite_distance(),
            reread_near: usage.reread_near_distance(),
            rewrite_near: usage.rewrite_cached_distance(),
            streams: verdict::streams(&sequential),
            fence_distance: evidence.fence,
            allocations,
        }
    }

    fn sites(&self) -> Vec<LineShare> {
        let mut sites: Vec<LineShare> = Vec::new();
        for ((site, _), stores, _) in &self.places {
            match sites.iter_mut().find(|s| s.site == *site) {
                Some(same) => same.stores += stores,
                None => sites.push(LineShare {
                    site: *site,
                    stores: *stores,
                }),
            }
        }
        sites
    }
}

fn context_classes(classes: &[SizeClass], covered: u64) -> Vec<ContextClass> {
    let mut contexts: Vec<ContextClass> = classes
        .iter()
        .map(|c| ContextClass {
            bytes: c.spans / c.count.max(1),
            share: share(c.covered, covered),
            count: c.count,
            reread: c.usage.reread_distance(),
            rewrite: c.usage.rewrite_distance(),
            reread_near: c.usage.reread_near_distance(),
            rewrite_near: c.usage.rewrite_cached_distance(),
        })
        .collect();
    contexts.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.bytes.cmp(&a.bytes)));
    contexts
}
