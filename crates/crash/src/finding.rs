//! What is wrong with a range of persistent memory.

use prestore_trace::replay::{CallTree, NodeId};
use prestore_trace::{ProcessId, SiteId, ThreadId};
use serde::{Deserialize, Serialize};

/// What is wrong; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Stored, and not flushed by the end.
    MissingFlush,
    /// Flushed (or stored around the caches), and not fenced by the end.
    MissingFence,
    /// Stored again after its flush and before the fence that was to make it persistent; or not persistent yet when a
    /// pointer to it is; or in a transaction, whose undo log does not have what was there.
    Ordering,
    /// A flush of a line of which nothing was to be flushed.
    RedundantFlush,
    /// A store fence with nothing to wait for.
    RedundantFence,
}

/// A place in the code as it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct At {
    pub(crate) site: SiteId,
    pub(crate) node: NodeId,
}

impl At {
    /// With the calls that led there.
    pub(crate) fn spot(self, tree: &CallTree) -> Spot {
        Spot {
            site: self.site,
            calls: tree.chain(self.node).collect(),
        }
    }
}

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The instruction.
    pub site: SiteId,
    /// Calls that led there, innermost first.
    pub calls: Vec<SiteId>,
}

/// When and where something was wrong first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct First {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// Instructions the thread had executed before.
    pub instr: u64,
    /// Virtual address; 0 for fences.
    pub address: u64,
    /// The same in bytes from the image's beginning: the file's for files, the range's for ranges, the
    /// allocation's for allocations; 0 for fences.
    pub offset: u64,
}

/// One range and place where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Index of the image in [`crate::Checked::images`]; `None` for fences.
    pub image: Option<usize>,
    /// The store, flush or fence.
    pub at: Spot,
    /// How often: stores, flushes or fences.
    pub count: u64,
    /// The first of them.
    pub first: First,
    /// Missing flush: the flush nearest to it, of the line, else of the thread. Missing fence, wrong
    /// order: the flush that was not fenced. Redundant flush: the one before, of the line.
    pub flush: Option<Spot>,
    /// Missing flush: the thread's first fence behind the store, before which a flush belongs. Missing
    /// fence: the thread's last fence, which came too early. Wrong order: the fence. Redundant
    /// fence: the thread's fence before.
    pub fence: Option<Spot>,
    /// Wrong order: the store of the pointer that is persistent too early, by the fence, or by `msync` where there is none.
    pub pointer: Option<Spot>,
    /// Where the transaction was begun to which the stored bytes should have been added. Of a missing flush, the commit would have
    /// flushed them.
    pub transaction: Option<Spot>,
}
