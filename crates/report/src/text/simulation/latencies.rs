//! Distributions of latencies.

use prestore_sim::{LatencySummary, Results};

use crate::human::count;
use crate::text::page::Page;

fn all(results: &Results) -> [(&'static str, &LatencySummary); 5] {
    [
        ("misses", &results.load_latency),
        ("fences", &results.fence_latency),
        ("atomics", &results.atomic_latency),
        ("hand-offs", &results.handoffs),
        ("messages", &results.messages),
    ]
}

/// Is there anything to show?
pub fn any(results: &Results) -> bool {
    all(results).iter().any(|(_, l)| l.count > 0)
}

/// One line a distribution.
pub fn write(page: &mut Page<'_>, results: &Results) {
    for (name, l) in all(results) {
        if l.count == 0 {
            continue;
        }
        let first = format!("   {name:<10} {:>8}  ", count(l.count));
        let line = format!(
            "mean {:.1} ns, median {:.1}, 90% below {:.1}, 99% below {:.1}, longest {:.1}",
            l.mean_ns, l.p50_ns, l.p90_ns, l.p99_ns, l.max_ns
        );
        page.wrapped(&first, &line);
    }
}
