//! One address space for all processes.

use std::ops::Range;

use prestore_sim::{Op, OpKind};
use prestore_trace::ProcessId;
use prestore_trace::block::{BlockTable, SharedMemory};
use prestore_trace::container::Trace;

/// Addresses of user programs have 47 bits (unless they ask the kernel for more by name).
const USER_BITS: u32 = 48;

/// What is added to addresses of what processes share: a bit that no program's address has.
const SHARED: u64 = 1 << (USER_BITS - 1);

/// What is added to a process's addresses: its number, above the bits that programs use.
///
/// Two processes meet only in what they share, see [`ProcessMemory`]; pages not yet copied after a fork are simulated as if
/// each had its own. The first process's addresses stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space(u64);

impl Space {
    /// The space of `process`.
    pub fn of(process: ProcessId) -> Self {
        Self(u64::from(process.0) << USER_BITS)
    }

    /// The simulated address of the process's address `addr`.
    #[inline]
    pub fn place(self, addr: u64) -> u64 {
        addr.wrapping_add(self.0)
    }
}

/// The memory of one process among that of all: what it has for itself, in its [`Space`], and what it shares with others, which
/// is at the same place for all of them, wherever each has it.
#[derive(Clone, Copy, Debug)]
pub struct ProcessMemory<'a> {
    space: Space,
    shared: Option<&'a SharedMemory>,
}

impl<'a> ProcessMemory<'a> {
    /// That of `process`, whose blocks are `table`. Where a recording does not know what processes share (it is older, or without
    /// allocations), they share nothing; a process that is alone keeps its addresses.
    pub fn of(trace: &Trace, process: ProcessId, table: &'a BlockTable) -> Self {
        let shares = knows_shared(trace) && trace.manifest().processes.len() > 1;
        let shared = Some(table.shared()).filter(|s| shares && !s.is_empty());
        Self {
            space: Space::of(process),
            shared,
        }
    }

    /// One that is the same for all processes.
    pub(crate) fn of_all() -> Self {
        Self {
            space: Space::of(ProcessId(0)),
            shared: None,
        }
    }

    /// The simulated address of the process's address `addr`.
    #[inline(always)]
    pub fn place(self, addr: u64) -> u64 {
        match self.shared.and_then(|shared| shared.place(addr)) {
            Some(place) => place | SHARED,
            None => self.space.place(addr),
        }
    }

    /// Where what lies in a range of the process's addresses is: what it has for itself, and what it shares.
    pub fn places(self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let own = self.space.place(range.start)..self.space.place(range.end);
        let shared = self.shared.into_iter();
        let shared = shared.flat_map(move |s| s.places(range.clone()));
        let shared = shared.map(|r| r.start + SHARED..r.end + SHARED);
        [own].into_iter().chain(shared)
    }

    /// Puts operations in the process's space to where they belong.
    pub(crate) fn place_all(self, ops: &mut [Op]) {
        let Some(shared) = self.shared else { return };
        for op in ops.iter_mut().filter(|op| has_address(op.kind)) {
            let addr = op.addr.wrapping_sub(self.space.0);
            if let Some(place) = shared.place(addr) {
                op.addr = place | SHARED;
            }
        }
    }
}

/// Is it known which memory processes share?
pub(crate) fn knows_shared(trace: &Trace) -> bool {
    trace.manifest().info.scope.shared_memory
}

fn has_address(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Load
            | OpKind::Store
            | OpKind::NtStore
            | OpKind::Atomic
            | OpKind::Flush(_)
            | OpKind::Demote(_)
            | OpKind::Alloc { .. }
            | OpKind::Free
    )
}
