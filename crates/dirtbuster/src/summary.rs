//! From origins to findings: which stores belong together, and what they add up to.

use prestore_trace::replay::{CallTree, NodeId};
use prestore_trace::{EventKind, SiteId};
use rustc_hash::FxHashMap;

use crate::Thresholds;
use crate::analyzer::{Ended, ProgramTotals, StoreCount, ThreadTotals};
use crate::fences::FenceHistogram;
use crate::findings::{ContextClass, Finding, Findings, LineShare};
use crate::groups::{Group, Groups};
use crate::origins::{SizeClass, add_class};
use crate::usage::Usage;
use crate::verdict::{self, Evidence, Program};

/// A store instruction on behalf of a group, in whatever thread and process.
type Place = (SiteId, u32);

/// What was executed at a place.
#[derive(Clone, Debug, Default)]
struct Executed {
    stores: u64,
    bytes: u64,
    non_temporal: u64,
    atomic: u64,
    contexts: FxHashMap<NodeId, u64>,
}

/// Places that write the same data, added up.
#[derive(Clone, Debug, Default)]
struct Cluster {
    places: Vec<(Place, u64)>,
    bytes: u64,
    non_temporal: u64,
    atomic: u64,
    scattered: Usage,
    scattered_bytes: u64,
    classes: Vec<SizeClass>,
    fences: FenceHistogram,
    allocations: FxHashMap<SiteId, u64>,
}

pub(crate) fn findings<O>(
    processes: &[Ended],
    groups: &Groups<O>,
    tree: &CallTree,
    thresholds: &Thresholds,
    given: Option<ProgramTotals>,
) -> (Findings, Vec<StoreCount>, Vec<ThreadTotals>) {
    let (executed, threads) = executed(processes);
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
    let mut list: Vec<Finding> = clusters(processes, groups, &executed)
        .into_iter()
        .filter(|c| share(c.stores(), totals.stores) >= thresholds.min_store_share)
        .map(|c| c.finding(groups, tree, &executed, totals.stores, program, thresholds))
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
    (findings, counts(&executed), threads)
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

fn executed(processes: &[Ended]) -> (FxHashMap<Place, Executed>, Vec<ThreadTotals>) {
    let mut places: FxHashMap<Place, Executed> = FxHashMap::default();
    let mut threads = Vec::new();
    let all = processes
        .iter()
        .flat_map(|p| p.front.threads.iter().zip(&p.back.threads));
    for (thread, back) in all {
        let mut totals = ThreadTotals {
            process: thread.process,
            thread: thread.id,
            instructions: thread.replayer.instrs() - thread.skipped,
            ..ThreadTotals::default()
        };
        let runs = &thread.state.runs;
        for run in &runs.all {
            for at in run.first as usize..run.end as usize {
                let facts = &runs.facts[at];
                let n = run.executions + facts.extra;
                totals.loads += if facts.kind.reads() { n } else { 0 };
                totals.fences += if facts.kind.orders_stores() { n } else { 0 };
                if !facts.kind.writes() {
                    continue;
                }
                totals.stores += n;
                let place = places.entry((facts.site, facts.group)).or_default();
                place.stores += n;
                place.bytes += match facts.size {
                    Some(size) => n * u64::from(size),
                    None => back.odd_bytes[at],
                };
                match facts.kind {
                    EventKind::NtStore => place.non_temporal += n,
                    EventKind::AtomicRmw => place.atomic += n,
                    _ => {}
                }
                for (node, count) in run.contexts.iter() {
                    *place.contexts.entry(node).or_default() += count;
                }
            }
        }
        threads.push(totals);
    }
    (places, threads)
}

/// Adds up the origins of all threads and processes by what they write together.
fn clusters<O>(
    processes: &[Ended],
    groups: &Groups<O>,
    executed: &FxHashMap<Place, Executed>,
) -> Vec<Cluster> {
    let mut joined = Joined::default();
    let mut first_of_caller: FxHashMap<u32, Place> = FxHashMap::default();
    for origins in processes.iter().map(|p| &p.back.memory.origins) {
        for i in 0..origins.len() {
            let (o, root) = (origins.get(i), origins.get(origins.root(i)));
            let place = (o.site, o.group);
            joined.join(place, (root.site, root.group));
            if !matches!(groups.get(o.group), Group::Function(_)) {
                let first = *first_of_caller.entry(o.group).or_insert(place);
                joined.join(place, first);
            }
        }
    }
    let mut clusters: FxHashMap<Place, Cluster> = FxHashMap::default();
    for origins in processes.iter().map(|p| &p.back.memory.origins) {
        for i in 0..origins.len() {
            let o = origins.get(i);
            let cluster = clusters.entry(joined.root((o.site, o.group))).or_default();
            cluster.scattered.merge(&o.scattered);
            cluster.scattered_bytes += o.scattered_bytes;
            cluster.fences.merge(&o.fences);
            for class in &o.classes {
                add_class(&mut cluster.classes, class);
            }
        }
        for ((origin, site), bytes) in &origins.allocations {
            let o = origins.get(*origin);
            let cluster = clusters.entry(joined.root((o.site, o.group))).or_default();
            *cluster.allocations.entry(*site).or_default() += bytes;
        }
    }
    for (place, e) in executed.iter().filter(|(_, e)| e.stores > 0) {
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

/// Union-find over places.
#[derive(Default)]
struct Joined(FxHashMap<Place, Place>);

impl Joined {
    fn root(&self, mut place: Place) -> Place {
        while let Some(&up) = self.0.get(&place) {
            place = up;
        }
        place
    }

    fn join(&mut self, a: Place, b: Place) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
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
        for class in &self.classes {
            sequential.merge(class);
        }
        let mut whole = sequential.usage;
        whole.merge(&self.scattered);
        let evidence = Evidence {
            stores,
            store_share: share(stores, all_stores),
            sequential_share: share(
                sequential.covered,
                sequential.covered + self.scattered_bytes,
            ),
            sequential,
            whole,
            classes: &self.classes,
            fence: self.fences.distance(),
            non_temporal: self.non_temporal == stores,
            atomic_share: share(self.atomic, stores),
        };
        let (verdict, reason) = verdict::decide(&evidence, program, thresholds);
        let mut contexts: Vec<ContextClass> = self
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
        let mut allocations: Vec<(SiteId, u64)> = self.allocations.drain().collect();
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
