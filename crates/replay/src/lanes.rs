//! Which threads share a simulated core: those that were never there at the same time.
//!
//! A build of ten thousand processes never runs more than a few at once, and so it takes a few cores.
//! What one thread waits for, another did earlier, as recorded: a thread behind another on a core is
//! never waited for by it.

use prestore_trace::container::Trace;
use prestore_trace::{ProcessId, ThreadId};

/// A thread and its process.
pub(crate) type Whose = (ThreadId, ProcessId);

/// Threads for each core, in the order in which they ran. One whose start or end is not known has a
/// core of its own.
pub(crate) fn share(trace: &Trace, threads: &[Whose]) -> Vec<Vec<Whose>> {
    let spans = threads.iter().map(|&whose| (whose, span(trace, whose.0)));
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|&((thread, _), span)| (span.map_or(0, |s| s.0), thread));
    let mut lanes: Vec<(Vec<Whose>, u64)> = Vec::new();
    for (whose, span) in spans {
        let (start, end) = span.unwrap_or((0, u64::MAX));
        let free = lanes.iter().enumerate();
        let free = free.filter(|(_, lane)| lane.1 < start);
        let at = match free.max_by_key(|(_, lane)| lane.1) {
            Some((at, _)) => at,
            None => {
                lanes.push((Vec::new(), 0));
                lanes.len() - 1
            }
        };
        lanes[at].0.push(whose);
        lanes[at].1 = end;
    }
    let mut lanes: Vec<Vec<Whose>> = lanes.into_iter().map(|l| l.0).collect();
    lanes.sort_by_key(|lane| lane.first().map(|whose| whose.0));
    lanes
}

/// Ticks at which a thread began and ended; `None`: they were not recorded.
fn span(trace: &Trace, thread: ThreadId) -> Option<(u64, u64)> {
    let begun = trace.blocks(thread).next()?.start_ticks;
    let entry = trace.manifest().threads.get(thread.0 as usize);
    let ended = entry.and_then(|t| t.end_ticks)?;
    (begun > 0).then_some((begun, ended))
}
