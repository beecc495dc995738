//! What goes from the front of the analysis to its back.
//!
//! The front follows each thread's code: which block, in which calling context, how often. The
//! back follows the memory. They run side by side; what passes between them is a buffer's words
//! and which blocks lie where in them, in order.

use prestore_trace::block::{Ref, SharedMemory, XsaveComponent};
use prestore_trace::{ProcessId, SiteId};

use crate::access::Access;
use crate::origins::OriginNews;
use crate::steps::Step;
use crate::thread::Part;

/// From this number on, [`Item::run`] counts [`Batch::rare`].
pub(crate) const RARE: u32 = 1 << 31;

/// An execution of a block that touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Instructions of the thread before it.
    pub(crate) before: u64,
    /// Number of the block's run in the thread.
    pub(crate) run: u32,
    /// Where its values are in the words.
    pub(crate) at: u32,
}

/// What happens seldom.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rare {
    /// The run was left before instruction `executed`.
    Cut { run: u32, executed: u32 },
    /// Memory was handed out. `writers`: the group of what the call has written itself, if it has.
    Allocate {
        addr: u64,
        size: u64,
        site: SiteId,
        writers: Option<u32>,
        /// The kernel has mapped it.
        mapped: bool,
    },
    /// Memory was returned.
    Free { addr: u64 },
    /// It is a file's.
    MapFile { addr: u64, size: u64 },
    /// Something was executed that was not recorded.
    Gap,
    /// So much that what lies behind it is another stretch of the run.
    LeftOut,
}

/// A block made ready: its steps and accesses, numbered as in the thread's front.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) steps: Vec<Step>,
    pub(crate) accesses: Vec<Access>,
    /// Origins of its streaks.
    pub(crate) streaks: Vec<u32>,
    /// References that are looked at in detail.
    pub(crate) odd: Vec<Ref>,
}

/// One buffer of one thread.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) process: ProcessId,
    /// Numbered by the front in the order of the process's first buffers.
    pub(crate) thread: usize,
    pub(crate) words: Vec<u64>,
    pub(crate) items: Vec<Item>,
    pub(crate) rare: Vec<Rare>,
    /// What is new since the batch before; numbers in the items may refer to it.
    pub(crate) origins: Vec<OriginNews>,
    pub(crate) runs: Vec<NewRun>,
    pub(crate) xsave: Vec<XsaveComponent>,
    /// What the process has in common with others, if that is new, and the number of a thread that there is not.
    pub(crate) common: Option<(SharedMemory, usize)>,
    /// The thread's instructions at the end.
    pub(crate) instrs: u64,
    /// Nothing of the above but that somebody has ended.
    pub(crate) ended: Option<Ended>,
}

/// Who has ended, with the front's share.
#[derive(Debug)]
pub(crate) enum Ended {
    Thread(Box<Part>),
    /// With those of its threads that were not told before, by number, and what its sums count.
    Process(Vec<Option<Part>>, u64),
    /// As `Process`, and it goes on.
    Part(Vec<Option<Part>>, u64),
}

impl Batch {
    /// Empties it for another use.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.items.clear();
        self.rare.clear();
        self.origins.clear();
        self.runs.clear();
        self.xsave.clear();
        self.common = None;
        self.ended = None;
    }
}

/// The value of a slot.
#[inline(always)]
pub(crate) fn word(values: &[u64], slot: u16) -> u64 {
    values.get(usize::from(slot)).copied().unwrap_or(0)
}
