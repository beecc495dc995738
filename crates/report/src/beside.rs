//! Advice to skip the cache for several arrays that one function fills: how they lie to each other decides what that costs.

use std::collections::HashMap;

use prestore_dirtbuster::Verdict;

use crate::finding::NamedFinding;

/// What is added to the reason. Measured on an AMD EPYC (Zen 4): docs/findings.md.
const WHOLE_LINES: &str = " This function fills other arrays that are to skip the cache as well: put each line out whole, as \
    prestore_writer does. Single elements that are written with non-temporal stores to several arrays by turns took 6 to 30 times as \
    long on an AMD Zen 4 where the arrays lay alike within 4 KiB, as large allocations do, and up to 1.3 times where they did not.";

/// Adds a warning to each advice to skip that is not the only one of its function. What library functions write, whole lines
/// one behind the other, takes no turns.
pub(crate) fn warn_of_turns(findings: &mut [NamedFinding]) {
    let skips = |f: &NamedFinding| f.verdict == Verdict::Skip && !f.generic_writer;
    let function = |f: &NamedFinding| (f.place.module.clone(), f.place.function.clone());
    let mut times: HashMap<(String, String), u32> = HashMap::new();
    for f in findings.iter().filter(|f| skips(f)) {
        *times.entry(function(f)).or_default() += 1;
    }
    for f in findings.iter_mut().filter(|f| skips(f)) {
        if times[&function(f)] > 1 {
            f.reason.push_str(WHOLE_LINES);
        }
    }
}
