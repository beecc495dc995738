//! From which size of the last-level cache on another verdict holds.

use crate::Thresholds;
use crate::findings::{CacheLimit, Verdict};
use crate::verdict::Evidence;

/// The smallest of the caches that are told apart with which `verdict` would be another one, as they keep enough of the
/// lines until they are used again.
pub(crate) fn of_verdict(verdict: Verdict, e: &Evidence<'_>, t: &Thresholds) -> Option<CacheLimit> {
    if !matches!(verdict, Verdict::Skip | Verdict::Clean) {
        return None;
    }
    let (usage, reused, far) = match e.sequential_share >= t.min_sequential_share {
        true => (&e.sequential.usage, e.sequential.reused, &e.far),
        false => (&e.whole, e.whole.reread_near.n, &e.lone.far),
    };
    let larger = far.each().filter(|c| c.0 > t.reach_bytes);
    larger
        .map(|(bytes, reread, rewritten)| {
            let cached = usage.rewritten_cached.n + rewritten;
            CacheLimit {
                bytes,
                verdict: Verdict::LeaveAlone,
                reread: (usage.reread_near_share(reused + reread)).min(1.0),
                rewritten: (usage.rewritten_cached_share(cached)).min(1.0),
            }
        })
        .find_map(|limit| {
            // What is sent to memory for a fence's sake is so in spite of what writes it again.
            if limit.rewritten >= t.min_rewrite_share && !e.is_fenced(t) {
                return Some(limit);
            }
            let read = verdict == Verdict::Skip && limit.reread >= t.min_reread_share;
            read.then_some(CacheLimit {
                verdict: Verdict::Clean,
                ..limit
            })
        })
}
