//! From origins to findings: which stores belong together, and what they add up to.

use prestore_trace::SiteId;
use prestore_trace::replay::CallTree;
use rustc_hash::FxHashMap;

use crate::Thresholds;
use crate::analyzer::{ProgramTotals, StoreCount};
use crate::findings::{ContextClass, Finding, Findings, LineShare};
use crate::groups::{Group, Groups};
use crate::ledger::{Executed, Ledger, Place, ThreadTotals, Written};
use crate::origins::SizeClass;
use crate::verdict::{self, Evidence, Program};

/// Places that write the same data, added up.
#[derive(Clone, Debug, Default)]
struct Cluster {
    places: Vec<(Place, u64)>,
    bytes: u64,
    non_temporal: u64,
    atomic: u64,
    written: Written,
}

pub(crate) fn findings<O>(
    ledger: &Ledger,
    groups: &Groups<O>,
    tree: &CallTree,
    thresholds: &Thresholds,
    given: Option<ProgramTotals>,
) -> (Findings, Vec<StoreCount>, Vec<ThreadTotals>) {
    let (executed, threads) = (&ledger.executed, ledger.threads());
    let mut totals = ThreadTotals::default();
    for t in &threads {
        totals.instructions += t.instructions;
        totals.stores += t.stores;
        totals.loads += t.loads;
        totals.fences += t.fences;
    }
    if let Some(given) = given {
        (totals.instructions, totals.stores) = (given.instructions, given.stores);
    }
    let program = Program::new(totals.stores, totals.instructions, thresholds);
    let mut list: Vec<Finding> = clusters(ledger, groups)
        .into_iter()
        .filter(|c| share(c.stores(), totals.stores) >= thresholds.min_store_share)
        .map(|c| c.finding(groups, tree, executed, totals.stores, program, thresholds))
        .collect();
    list.sort_by_key(|f| (std::cmp::Reverse(f.stores), f.sites.first().map(|s| s.site)));
    let findings = Findings {
        write_intensive: program.write_intensive,
        instructions: totals.instructions,
        stores: totals.stores,
        loads: totals.loads,
        fences: totals.fences,
        store_fraction: program.store_fraction,
        findings: list,
    };
    (findings, counts(executed), threads)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn counts(executed: &FxHashMap<Place, Executed>) -> Vec<StoreCount> {
    let mut by_site: FxHashMap<SiteId, StoreCount> = FxHashMap::default();
    for ((site, _), e) in executed {
        let count = by_site.entry(*site).or_insert(StoreCount {
            site: *site,
            stores: 0,
            bytes: 0,
        });
        count.stores += e.stores;
        count.bytes += e.bytes;
    }
    let mut counts: Vec<StoreCount> = by_site.into_values().filter(|c| c.stores > 0).collect();
    counts.sort_by_key(|c| (std::cmp::Reverse(c.stores), c.site));
    counts
}

/// Adds up places by what they write together.
fn clusters<O>(ledger: &Ledger, groups: &Groups<O>) -> Vec<Cluster> {
    let mut joined = ledger.joined.clone();
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
        cluster.written.add(of_place);
    }
    let executed = ledger.executed.iter();
    for (place, e) in executed.filter(|(_, e)| e.stores > 0) {
        let root = joined.root(*place);
        if let Some(cluster) = clusters.get_mut(&root) {
            cluster.places.push((*place, e.stores));
            cluster.bytes += e.bytes;
            cluster.non_temporal += e.non_temporal;
            cluster.atomic += e.atomic;
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

    fn finding<O>(
        mut self,
        groups: &Groups<O>,
        tree: &CallTree,
        executed: &FxHashMap<Place, Executed>,
        all_stores: u64,
        program: Program,
        thresholds: &Thresholds,
    ) -> Finding {
        self.places.sort_by_key(|p| (std::cmp::Reverse(p.1), p.0));
        let stores = self.stores();
        let group = groups.get(self.places[0].0.1);
        let mut sequential = SizeClass::default();
        for class in &self.written.classes {
            sequential.merge(class);
        }
        let mut whole = sequential.usage;
        whole.merge(&self.written.scattered);
        let evidence = Evidence {
            stores,
            store_share: share(stores, all_stores),
            sequential_share: share(
                sequential.covered,
                sequential.covered + self.written.scattered_bytes,
            ),
            sequential,
            whole,
            classes: &self.written.classes,
            fence: self.written.fences.distance(),
            non_temporal: self.non_temporal == stores,
            atomic_share: share(self.atomic, stores),
        };
        let (verdict, reason) = verdict::decide(&evidence, program, thresholds);
        let mut contexts: Vec<ContextClass> = self
            .written
            .classes
            .iter()
            .map(|c| ContextClass {
                bytes: c.spans / c.count.max(1),
                share: share(c.covered, sequential.covered),
                count: c.count,
                reread: c.usage.reread_distance(),
                rewrite: c.usage.rewrite_distance(),
            })
            .collect();
        contexts.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.bytes.cmp(&a.bytes)));
        let mut allocations: Vec<(SiteId, u64)> = self.written.allocations.drain().collect();
        allocations.sort_by_key(|a| (std::cmp::Reverse(a.1), a.0));
        let mut sites: Vec<LineShare> = Vec::new();
        for ((site, _), stores) in &self.places {
            match sites.iter_mut().find(|s| s.site == *site) {
                Some(same) => same.stores += stores,
                None => sites.push(LineShare {
                    site: *site,
                    stores: *stores,
                }),
            }
        }
        Finding {
            sites,
            call_chain: chain(self.places[0].0, groups, tree, executed),
            generic_writer: !matches!(group, Group::Function(_)),
            verdict,
            reason,
            stores,
            store_bytes: self.bytes,
            store_share: evidence.store_share,
            sequential_share: evidence.sequential_share,
            contexts,
            reread: whole.reread_distance(),
            rewrite: whole.rewrite_distance(),
            fence_distance: evidence.fence,
            allocations,
        }
    }
}

/// Call sites of the most frequent context of `place`, innermost first; for generic code from
/// the first caller that is not.
fn chain<O>(
    place: Place,
    groups: &Groups<O>,
    tree: &CallTree,
    executed: &FxHashMap<Place, Executed>,
) -> Vec<SiteId> {
    let contexts = executed.get(&place).map(|e| &e.contexts);
    let most = contexts
        .into_iter()
        .flatten()
        .max_by_key(|(node, n)| (**n, std::cmp::Reverse(**node)));
    let Some((&node, _)) = most else {
        return Vec::new();
    };
    let function = matches!(groups.get(place.1), Group::Function(_));
    tree.chain(node)
        .skip_while(|&call| !function && groups.is_generic(call))
        .collect()
}
