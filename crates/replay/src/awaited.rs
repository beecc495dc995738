//! Which threads, in a walk over all of them, wait for what another one has not come to yet.

use prestore_trace::ThreadId;
use prestore_trace::block::{Block, BlockTable, RefMode};
use prestore_trace::replay::each_touch;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::HandOffs;
use crate::marks::{Mark, Reader};

/// What threads hand over to each other by plain loads and stores, which no stamp tells: who spun at a barrier, for a message or for
/// another thread's end does not go on before what he waited for.
pub(crate) struct Awaited {
    hand_offs: HandOffs,
    threads: Vec<Progress>,
    published: FxHashSet<u32>,
    /// By what they wait for, with when their stretches began.
    waiting: FxHashMap<u32, Vec<(u64, usize)>>,
    /// Who waits no longer.
    free: Vec<usize>,
}

/// How far a thread has come.
struct Progress {
    thread: ThreadId,
    marks: Reader,
    events: u64,
    /// Events behind which its next mark is due.
    next: u64,
}

impl Awaited {
    /// `None`: nobody waits for anybody.
    pub(crate) fn new(
        hand_offs: HandOffs,
        threads: impl Iterator<Item = ThreadId>,
    ) -> Option<Self> {
        if hand_offs == HandOffs::default() {
            return None;
        }
        let progress = |thread| Progress {
            thread,
            marks: Reader::default(),
            events: 0,
            next: 0,
        };
        Some(Self {
            hand_offs,
            threads: threads.map(progress).collect(),
            published: FxHashSet::default(),
            waiting: FxHashMap::default(),
            free: Vec::new(),
        })
    }

    /// `thread` has had so many events more, counted as long as that matters; true: it does not [go on](Self::goes_on) yet.
    #[inline]
    pub(crate) fn has_had(&mut self, thread: usize, events: impl FnOnce() -> u64) -> bool {
        let progress = &mut self.threads[thread];
        if progress.next == u64::MAX {
            return false;
        }
        progress.events += events();
        progress.events >= progress.next && self.has_to_wait(thread).is_some()
    }

    /// `thread`, of which a stretch began at `ticks`, would go on; false: it waits, and is [free](Self::take_free) later.
    pub(crate) fn goes_on(&mut self, thread: usize, ticks: u64) -> bool {
        match self.has_to_wait(thread) {
            Some(number) => {
                let others = self.waiting.entry(number).or_default();
                others.push((ticks, thread));
                false
            }
            None => true,
        }
    }

    /// Threads that wait no longer.
    pub(crate) fn take_free(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.free.drain(..)
    }

    /// All wait for each other: the one that came first goes on, with when its stretch began.
    pub(crate) fn break_deadlock(&mut self) -> Option<(u64, usize)> {
        let all = self.waiting.iter();
        let all = all.flat_map(|(number, those)| those.iter().map(move |at| (*at, *number)));
        let (_, number) = all.min()?;
        let mut those = self.waiting.remove(&number)?;
        self.published.insert(number);
        those.sort_unstable();
        let first = those.remove(0);
        self.free.extend(those.iter().map(|at| at.1));
        Some(first)
    }

    /// The hand-off that `thread` has to wait for; what it has published by then is.
    fn has_to_wait(&mut self, thread: usize) -> Option<u32> {
        let progress = &mut self.threads[thread];
        let marks = self.hand_offs.marks(progress.thread);
        while let Some((at, mark)) = progress.marks.peek(marks) {
            // Who waits has looked.
            progress.next = match mark {
                Mark::Await(_) => at + 1,
                _ => at,
            };
            if progress.events < progress.next {
                return None;
            }
            match mark {
                Mark::Await(number) if !self.published.contains(&number) => return Some(number),
                Mark::HandOff(number) => {
                    self.published.insert(number);
                    let those = self.waiting.remove(&number).unwrap_or_default();
                    self.free.extend(those.iter().map(|at| at.1));
                }
                _ => {}
            }
            progress.marks.pass_to(at);
        }
        progress.next = u64::MAX;
        None
    }
}

/// Events of an execution of the first `executed` instructions of `block`, as [`HandOffs`] counts them.
pub(crate) fn events(table: &BlockTable, block: &Block, values: &[u64], executed: u32) -> u64 {
    let mut events = 0;
    for r in &block.refs {
        if u32::from(r.instr) >= executed {
            break;
        }
        match r.mode {
            RefMode::Plain => events += 1,
            _ => each_touch(table.xsave(), r, values, |_, _| events += 1),
        }
    }
    events
}
