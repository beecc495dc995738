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
    pub(crate) transaction: Option<At>,
}

/// What is wrong with the order, if it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rule {
    /// That of flush and fence.
    Flush,
    /// A pointer is persistent.
    Pointer,
    /// The undo log lacks what was there.
    Log,
}

/// What is wrong, by which rule, of which image, where.
type Which = (FindingKind, Rule, Option<usize>, At);

impl Occurrence {
    fn which(&self) -> Which {
        let rule = match (self.kind, self.pointer, self.transaction) {
            (FindingKind::Ordering, Some(_), _) => Rule::Pointer,
            (FindingKind::Ordering, _, Some(_)) => Rule::Log,
            _ => Rule::Flush,
        };
        (self.kind, rule, self.image, self.at)
    }
}

/// All findings so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    found: FxHashMap<Which, Occurrence>,
}

impl Ledger {
    pub(crate) fn add(&mut self, one: Occurrence) {
        let known = self.found.entry(one.which());
        known
            .and_modify(|known| {
                known.count += one.count;
                let earlier = (one.first.thread, one.first.instr);
                if earlier < (known.first.thread, known.first.instr) {
                    known.first = one.first;
                    (known.flush, known.fence) = (one.flush, one.fence);
                    (known.pointer, known.transaction) = (one.pointer, one.transaction);
                }
            })
            .or_insert(one);
    }

    /// Where data is never persistent, nothing else is said of its pointers and transactions.
    pub(crate) fn keep_worse(&mut self) {
        let missing = [FindingKind::MissingFlush, FindingKind::MissingFence];
        let never: Vec<_> = (self.found.values())
            .filter(|o| missing.contains(&o.kind))
            .map(|o| (o.image, o.at))
            .collect();
        for (image, at) in never {
            let mut remove = |rule| (self.found).remove(&(FindingKind::Ordering, rule, image, at));
            remove(Rule::Pointer);
            if let Some(unlogged) = remove(Rule::Log) {
                let missing = (FindingKind::MissingFlush, Rule::Flush, image, at);
                if let Some(known) = self.found.get_mut(&missing) {
                    known.transaction = unlogged.transaction;
                }
            }
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
                transaction: o.transaction.map(spot),
            })
            .collect()
    }
}
