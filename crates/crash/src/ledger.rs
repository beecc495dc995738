//! Findings while they are counted.

use prestore_trace::replay::CallTree;
use rustc_hash::FxHashMap;

use crate::finding::{At, Finding, FindingKind, First, Spot};

/// What goes with one occurrence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) kind: FindingKind,
    pub(crate) image: Option<usize>,
    pub(crate) at: At,
    pub(crate) count: u64,
    pub(crate) first: First,
    pub(crate) flush: Option<At>,
    pub(crate) fence: Option<At>,
}

/// All findings so far, by kind, image and place.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    found: FxHashMap<(FindingKind, Option<usize>, At), Occurrence>,
}

impl Ledger {
    pub(crate) fn add(&mut self, one: Occurrence) {
        let known = self.found.entry((one.kind, one.image, one.at));
        known
            .and_modify(|known| {
                known.count += one.count;
                let earlier = (one.first.thread, one.first.instr);
                if earlier < (known.first.thread, known.first.instr) {
                    known.first = one.first;
                    (known.flush, known.fence) = (one.flush, one.fence);
                }
            })
            .or_insert(one);
    }

    /// The findings: the worst kinds first, and of a kind what was there most often.
    pub(crate) fn findings(self, tree: &CallTree) -> Vec<Finding> {
        let mut all: Vec<Occurrence> = self.found.into_values().collect();
        all.sort_by_key(|o| (o.kind, std::cmp::Reverse(o.count), o.image, o.at));
        let spot = |at: At| Spot {
            site: at.site,
            calls: tree.chain(at.node).collect(),
        };
        all.into_iter()
            .map(|o| Finding {
                kind: o.kind,
                image: o.image,
                at: spot(o.at),
                count: o.count,
                first: o.first,
                flush: o.flush.map(spot),
                fence: o.fence.map(spot),
            })
            .collect()
    }
}
