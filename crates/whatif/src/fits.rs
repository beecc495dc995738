//! Does the program need memory at all?

use prestore_machine::{Machine, Scope};
use prestore_sim::Results;

/// A sentence where all that the run touched fits the last cache: what it writes stays there, and a prediction of
/// this run says little about one that touches more.
pub(crate) fn fits(machine: &Machine, baseline: &Results) -> Option<String> {
    let last = machine.caches.last()?;
    let instances = match last.scope {
        Scope::Private => u64::from(machine.core.count),
        Scope::Shared => 1,
    };
    let size = last.size.0 * instances;
    let fetched = *baseline.bytes.get(&format!("memory_to_{}", last.name))?;
    // Lines that are written whole may come from nowhere.
    let written = baseline.memories.iter().map(|m| m.write_bytes).sum::<u64>();
    (fetched + written <= size).then(|| {
        format!(
            "what is simulated fetches {:.1} MB from memory, which fits {}'s {} of {:.1} MB: its writes stay in the caches, \
             and these figures do not hold for a run that touches more",
            megabytes(fetched),
            machine.name,
            last.name,
            megabytes(size)
        )
    })
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
