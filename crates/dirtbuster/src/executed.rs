//! What was executed where: exact.

use prestore_trace::replay::{CallTree, NodeId};
use prestore_trace::{EventKind, ProcessId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::analyzer::StoreCount;
use crate::groups::{Group, Groups};
use crate::tally::Tally;
use crate::thread::Part;

/// An instruction on behalf of a group, in whatever thread and process.
pub(crate) type Place = (SiteId, u32);

/// What one thread executed: exact, or, where only stretches of a run were looked at, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// Its process.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Instructions, without those outside the recording's scope.
    pub instructions: u64,
    /// Store instructions, atomics included.
    pub stores: u64,
    /// Load instructions, atomics included.
    pub loads: u64,
    /// Fences and atomics.
    pub fences: u64,
}

/// What was executed at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executed {
    pub(crate) stores: u64,
    pub(crate) bytes: u64,
    pub(crate) non_temporal: u64,
    pub(crate) atomic: u64,
    /// Stretches of the run that it was executed in, of the thread and block with most.
    pub(crate) windows: u64,
    /// Stores to the frame: no data.
    pub(crate) frame: bool,
    contexts: Tally<NodeId>,
}

impl ThreadTotals {
    /// Adds what the same thread executed in another part of the run.
    pub(crate) fn add(&mut self, o: &Self) {
        self.instructions += o.instructions;
        self.stores += o.stores;
        self.loads += o.loads;
        self.fences += o.fences;
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.instructions *= weight;
        self.stores *= weight;
        self.loads *= weight;
        self.fences *= weight;
    }
}

impl Executed {
    /// Adds what was executed in another process, or part of the run.
    pub(crate) fn add(&mut self, o: &Self) {
        self.stores += o.stores;
        self.bytes += o.bytes;
        self.non_temporal += o.non_temporal;
        self.atomic += o.atomic;
        self.windows += o.windows;
        self.frame |= o.frame;
        self.contexts.merge(&o.contexts);
    }

    /// Counts for `weight` times as much; windows are as many as there were.
    pub(crate) fn scale(&mut self, weight: u64) {
        let sums = [&mut self.stores, &mut self.bytes, &mut self.non_temporal];
        for n in sums.into_iter().chain([&mut self.atomic]) {
            *n *= weight;
        }
        self.contexts.scale(weight);
    }
}

pub(crate) fn counts(executed: &FxHashMap<Place, Executed>) -> Vec<StoreCount> {
    let mut by_site: FxHashMap<SiteId, StoreCount> = FxHashMap::default();
    for ((site, _), e) in executed.iter().filter(|(_, e)| e.stores > 0) {
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

/// Adds what a thread executed to `places`. `odd_bytes`: the back's, of accesses whose size varies.
pub(crate) fn add(
    places: &mut FxHashMap<Place, Executed>,
    part: &Part,
    odd_bytes: &[u64],
) -> ThreadTotals {
    let mut totals = ThreadTotals {
        process: part.process,
        thread: part.thread,
        instructions: part.instructions,
        ..ThreadTotals::default()
    };
    let runs = &part.runs;
    for run in &runs.all {
        let accesses = run.first as usize..run.end as usize;
        for (at, facts) in accesses.clone().zip(&runs.facts[accesses]) {
            let n = run.executions + facts.extra;
            totals.loads += if facts.kind.reads() { n } else { 0 };
            totals.fences += if facts.kind.orders_stores() { n } else { 0 };
            let writes = facts.kind.writes();
            if !writes && facts.judged.is_none() {
                continue;
            }
            let place = places.entry((facts.site, facts.group)).or_default();
            for (node, count) in run.contexts.iter() {
                place.contexts.add(node, count);
            }
            if !writes {
                continue;
            }
            totals.stores += n;
            place.stores += n;
            place.windows = place.windows.max(run.windows);
            place.frame |= facts.frame;
            place.bytes += match facts.size {
                Some(size) => n * u64::from(size),
                None => odd_bytes[at],
            };
            match facts.kind {
                EventKind::NtStore => place.non_temporal += n,
                EventKind::AtomicRmw => place.atomic += n,
                _ => {}
            }
        }
    }
    totals
}

/// Who had a place executed.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) calls: Vec<SiteId>,
    /// The first is no call but the first instruction of the function that went on to the place.
    pub(crate) entered: bool,
}

/// Call sites of the most frequent context of `place`, innermost first; for generic code from
/// the first caller that is not.
pub(crate) fn chain<O>(
    place: Place,
    groups: &Groups<O>,
    tree: &CallTree,
    executed: &FxHashMap<Place, Executed>,
) -> Chain {
    let contexts = executed.get(&place).map(|e| &e.contexts);
    let most = contexts
        .into_iter()
        .flat_map(Tally::iter)
        // Where something was left out before, it is not known who called.
        .max_by_key(|(node, n)| (*node != NodeId::ROOT, *n, std::cmp::Reverse(*node)));
    let Some((node, _)) = most else {
        return Chain::default();
    };
    if let Group::Caller(caller) = groups.get(place.1)
        && let Some(at) = tree
            .contexts(node)
            .find(|&at| tree.entry(at) == Some(caller))
    {
        return Chain {
            calls: [caller].into_iter().chain(tree.chain(at)).collect(),
            entered: true,
        };
    }
    let function = matches!(groups.get(place.1), Group::Function(_));
    Chain {
        calls: tree
            .chain(node)
            .skip_while(|&call| !function && groups.is_generic(call))
            .collect(),
        entered: false,
    }
}
