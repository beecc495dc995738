//! The most frequent calling contexts of a block, in little space.

use prestore_trace::replay::NodeId;

/// Misra and Gries's summary with four counters: any context that has more than a fifth of the
/// executions is among them. Where there is none, one that was met is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frequent {
    counters: [(NodeId, u64); 4],
}

impl Frequent {
    /// One execution in `node`.
    #[inline]
    pub(crate) fn count(&mut self, node: NodeId) {
        if self.counters[0].0 == node {
            self.counters[0].1 += 1;
        } else {
            self.count_other(node);
        }
    }

    /// So many executions in `node`.
    pub(crate) fn count_times(&mut self, node: NodeId, times: u64) {
        if self.counters[0].0 == node {
            self.counters[0].1 += times;
        } else {
            (0..times).for_each(|_| self.count(node));
        }
    }

    #[inline(never)]
    fn count_other(&mut self, node: NodeId) {
        if let Some(c) = self.counters.iter_mut().find(|c| c.0 == node && c.1 > 0) {
            c.1 += 1;
        } else if let Some(c) = self.counters.iter_mut().find(|c| c.1 == 0) {
            *c = (node, 1);
        } else {
            for c in &mut self.counters {
                c.1 -= 1;
            }
        }
    }

    /// The contexts with their counts, which are lower bounds.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        // Who was counted last in the first place is still there when all counts have gone down to nothing.
        let any = self.counters.iter().position(|c| c.1 > 0).unwrap_or(0);
        let counters = self.counters.iter().copied().enumerate();
        counters
            .filter(move |&(at, c)| c.1 > 0 || at == any)
            .map(|(_, c)| c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_context_survives_many_rare_ones() {
        let mut f = Frequent::default();
        for i in 0..10_000 {
            f.count(if i % 3 == 0 {
                NodeId(7)
            } else {
                NodeId(100 + i)
            });
        }
        assert!(f.iter().any(|(n, _)| n == NodeId(7)));
    }

    #[test]
    fn of_contexts_that_are_all_alike_one_stays() {
        for contexts in 1..50 {
            let mut f = Frequent::default();
            for i in 0..100 * contexts {
                f.count(NodeId(100 + i % contexts));
            }
            assert!(f.iter().count() > 0);
            assert!(f.iter().all(|(n, _)| n.0 >= 100));
        }
    }
}
