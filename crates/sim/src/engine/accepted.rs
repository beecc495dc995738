//! What memory controllers accepted, for whoever keeps a log of it.

use prestore_trace::LineAddr;

use crate::{ByteMask, Time};

/// A write that a memory controller has taken: it has its place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// When.
    pub at: Time,
    /// For which core: who wrote, or whose miss evicted the line.
    pub core: u32,
    /// The line.
    pub line: LineAddr,
    /// Its bytes that were written.
    pub bytes: ByteMask,
    /// Index of the memory.
    pub memory: usize,
    /// Acceptance means that they outlast a power failure (`controller.persistent` of the machine).
    pub persisted: bool,
}

/// Is told of each write when it is accepted. Calls come in the order in which parts of the simulation come to
/// them, which is nearly that of time: sort by [`Accepted::at`].
pub type AcceptanceLog<'a> = &'a dyn Fn(Accepted);
