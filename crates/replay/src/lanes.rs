//! Which threads share a simulated core: those of processes that were never there at the same time.
//!
//! A build of ten thousand processes never runs more than a few at once, and so it takes a few cores.
//! What one thread waits for, another did earlier, as recorded: a thread behind another on a core is
//! never waited for by it.

use prestore_trace::container::Trace;
use prestore_trace::{ProcessId, ThreadId};
use rustc_hash::FxHashMap;

/// A thread and its process.
pub(crate) type Whose = (ThreadId, ProcessId);

/// Threads for each core, in the order in which they ran. Threads of one process have a core each.
pub(crate) fn share(trace: &Trace, threads: &[Whose]) -> Vec<Vec<Whose>> {
    let spans = threads.iter().map(|&whose| (whose, span(trace, whose.0)));
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|&((thread, _), span)| (span.map_or(0, |s| s.0), thread));
    let mut lanes: Vec<(Vec<Whose>, u64)> = Vec::new();
    let mut of_process: FxHashMap<ProcessId, Vec<usize>> = FxHashMap::default();
    for (whose, span) in spans {
        let own = of_process.entry(whose.1).or_default();
        let (start, end) = span.unwrap_or((0, u64::MAX));
        let free = lanes.iter().enumerate();
        let free = free.filter(|(i, lane)| lane.1 < start && !own.contains(i));
        let at = match free.max_by_key(|(_, lane)| lane.1) {
            Some((at, _)) => at,
            None => {
                lanes.push((Vec::new(), 0));
                lanes.len() - 1
            }
        };
        own.push(at);
        lanes[at].0.push(whose);
        lanes[at].1 = end;
    }
    let mut lanes: Vec<Vec<Whose>> = lanes.into_iter().map(|l| l.0).collect();
    lanes.sort_by_key(|lane| lane.first().map(|whose| whose.0));
    lanes
}

/// Ticks at which a thread began and ended; `None`: they were not recorded.
fn span(trace: &Trace, thread: ThreadId) -> Option<(u64, u64)> {
    let mut blocks = trace.blocks(thread);
    let first = blocks.next()?;
    let last = blocks.last().unwrap_or(first);
    (first.start_ticks > 0).then_some((first.start_ticks, last.last_ticks))
}
