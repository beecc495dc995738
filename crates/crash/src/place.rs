//! Where threads are.

use prestore_trace::SiteId;
use prestore_trace::replay::CallStack;

use crate::finding::At;

/// Where a thread is.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) stack: CallStack,
    /// The instruction that it has executed last, behind how many others: where the kernel writes, the system call.
    pub(crate) last: Option<(SiteId, u64)>,
}

impl Place {
    /// Where the instruction is that it has executed last.
    pub(crate) fn last_at(&self) -> Option<At> {
        let node = self.stack.node();
        self.last.map(|(site, _)| At { site, node })
    }
}
