//! At the memory controllers.

use prestore_trace::LineAddr;

use crate::memory::MemorySystem;
use crate::{ByteMask, Hint, Sent, Time};

/// A write that comes to the memory controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it left the caches or the core.
    pub at: Time,
    /// For which core: who wrote, or whose miss evicted the line.
    pub core: u32,
    /// The line.
    pub line: LineAddr,
    /// Its bytes that are written.
    pub bytes: ByteMask,
    /// Why it was sent.
    pub why: Sent,
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It goes on to its controller's queue at this time.
    At(Time),
    /// It need not be written: it counts as accepted at this time.
    Drop(Time),
}

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

/// Stands between the caches and the memory controllers: encryption, integrity trees, deduplication.
///
/// What it reads and writes in `memory` by itself takes its time there, and is counted as any access is. Calls
/// come in the order in which parts of the simulation come to them, which is nearly that of time.
pub trait Stage {
    /// Is there anything? Where not, none of its calls is compiled in.
    const ACTIVE: bool = true;

    /// A write arrives.
    fn write(&mut self, arrival: &Arrival, memory: &mut MemorySystem) -> Admission {
        let _ = memory;
        Admission::At(arrival.at)
    }

    /// A line was read for `core`, asked for at `at`; its data has come at `done`. Answers when the caches have it.
    fn read(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        done: Time,
        memory: &mut MemorySystem,
    ) -> Time {
        let _ = (core, at, line, memory);
        done
    }

    /// A write was accepted, or dropped as one that need not be written.
    fn accepted(&mut self, accepted: &Accepted) {
        let _ = accepted;
    }

    /// A probe of `core` told the controllers something at `at`.
    fn hint(&mut self, core: u32, at: Time, hint: Hint, memory: &mut MemorySystem) {
        let _ = (core, at, hint, memory);
    }
}

/// Writes go on as they come.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStage;

impl Stage for NoStage {
    const ACTIVE: bool = false;
}

impl<S: Stage> Stage for &mut S {
    const ACTIVE: bool = S::ACTIVE;

    fn write(&mut self, arrival: &Arrival, memory: &mut MemorySystem) -> Admission {
        (**self).write(arrival, memory)
    }

    fn read(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        done: Time,
        memory: &mut MemorySystem,
    ) -> Time {
        (**self).read(core, at, line, done, memory)
    }

    fn accepted(&mut self, accepted: &Accepted) {
        (**self).accepted(accepted);
    }

    fn hint(&mut self, core: u32, at: Time, hint: Hint, memory: &mut MemorySystem) {
        (**self).hint(core, at, hint, memory);
    }
}
