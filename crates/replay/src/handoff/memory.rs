//! Which addresses of different processes are one place.

use prestore_trace::ProcessId;
use prestore_trace::block::{BlockTable, SharedMemory};
use prestore_trace::container::Trace;

use crate::Space;

/// What is added to addresses of what processes share: a bit that no program's address has.
const SHARED: u64 = 1 << 47;

/// The memory of one process, among that of all: threads of two processes meet only in what the processes share, at the same address.
///
/// A forked process has its parent's addresses, and other memory behind them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory<'a> {
    space: Space,
    shared: &'a SharedMemory,
}

impl<'a> Memory<'a> {
    /// That of `process`, whose blocks are `table`.
    pub(super) fn of(trace: &Trace, process: ProcessId, table: &'a BlockTable) -> Self {
        Self {
            space: space(trace, process),
            shared: table.shared(),
        }
    }

    /// That of the only process.
    #[cfg(test)]
    pub(super) fn of_one(shared: &'a SharedMemory) -> Self {
        Self {
            space: Space::of(ProcessId(0)),
            shared,
        }
    }

    /// The place at the process's address `addr`.
    #[inline(always)]
    pub(super) fn place(self, addr: u64) -> u64 {
        match !self.shared.is_empty() && self.shared.has(addr) {
            true => addr | SHARED,
            false => self.space.place(addr),
        }
    }
}

/// Where what `process` has for itself is. Where it is not known what processes share (older recordings, and those without
/// allocations), all have one memory.
pub(super) fn space(trace: &Trace, process: ProcessId) -> Space {
    let known = trace.manifest().info.scope.shared_memory;
    Space::of(if known { process } else { ProcessId(0) })
}
