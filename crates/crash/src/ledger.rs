//! Findings while they are counted.

use prestore_trace::replay::CallTree;
use rustc_hash::FxHashMap;

use crate::finding::{At, Finding, FindingKind, First};

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
    pub(crate) pointer: Option<At>,
}

/// What is wrong, and is it that a pointer is persistent; of which image; where.
type Which = (FindingKind, bool, Option<usize>, At);

/// All findings so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    found: FxHashMap<Which, Occurrence>,
}

impl Ledger {
    pub(crate) fn add(&mut self, one: Occurrence) {
        let which = (one.kind, one.pointer.is_some(), one.image, one.at);
        let known = self.found.entry(which);
        known
            .and_modify(|known| {
                known.count += one.count;
                let earlier = (one.first.thread, one.first.instr);
                if earlier < (known.first.thread, known.first.instr) {
                    known.first = one.first;
                    (known.flush, known.fence) = (one.flush, one.fence);
                    known.pointer = one.pointer;
                }
            })
            .or_insert(one);
    }

    /// Where data is never persistent, nothing else is said of its pointers.
    pub(crate) fn keep_worse(&mut self) {
        let missing = [FindingKind::MissingFlush, FindingKind::MissingFence];
        let never: Vec<_> = (self.found.values())
            .filter(|o| missing.contains(&o.kind))
            .map(|o| (o.image, o.at))
            .collect();
        for (image, at) in never {
            self.found.remove(&(FindingKind::Ordering, true, image, at));
        }
    }

    /// The findings: the worst kinds first, and of a kind what was there most often.
    pub(crate) fn findings(self, tree: &CallTree) -> Vec<Finding> {
        let mut all: Vec<Occurrence> = self.found.into_values().collect();
        all.sort_by_key(|o| (o.kind, std::cmp::Reverse(o.count), o.image, o.at, o.pointer));
        let spot = |at: At| at.spot(tree);
        all.into_iter()
            .map(|o| Finding {
                kind: o.kind,
                image: o.image,
                at: spot(o.at),
                count: o.count,
                first: o.first,
                flush: o.flush.map(spot),
                fence: o.fence.map(spot),
                pointer: o.pointer.map(spot),
            })
            .collect()
    }
}
