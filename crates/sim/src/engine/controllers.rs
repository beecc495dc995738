//! Between caches and memory controllers.

use prestore_machine::Machine;
use prestore_trace::LineAddr;

use crate::doors::{Accepted, Admission, Arrival, Stage};
use crate::memory::{MemorySystem, whole_line};
use crate::{ByteMask, Hint, MemoryPort, Sent, Time};

/// The memories behind caches that send whole lines, whichever bytes of them are dirty, and what is plugged in
/// before them.
pub struct Controllers<S> {
    /// The memories.
    pub memory: MemorySystem,
    stage: S,
    whole: ByteMask,
    /// Of which memories acceptance persists.
    persistent: Vec<bool>,
}

impl<S: Stage> Controllers<S> {
    /// In front of `memory`, that of `machine`.
    pub fn new(machine: &Machine, memory: MemorySystem, stage: S) -> Self {
        let persistent = machine.memories.iter().map(|m| m.controller.persistent);
        Self {
            memory,
            stage,
            whole: whole_line(machine.line.0),
            persistent: persistent.collect(),
        }
    }

    /// A write comes to the stage.
    fn arrives(&mut self, arrival: Arrival) -> Time {
        let Arrival {
            core, line, bytes, ..
        } = arrival;
        let at = match self.stage.write(&arrival, &mut self.memory) {
            Admission::At(at) => self.memory.write(core, at, line, bytes, arrival.why),
            Admission::Drop(at) => at,
        };
        let memory = self.memory.memory_of(line);
        self.stage.accepted(&Accepted {
            at,
            core,
            line,
            bytes,
            memory,
            persisted: self.persistent.get(memory).copied().unwrap_or(false),
        });
        at
    }
}

impl<S: Stage> MemoryPort for Controllers<S> {
    #[inline]
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8) {
        let (done, memory) = self.memory.read(core, at, line);
        if !S::ACTIVE {
            return (done, memory);
        }
        let read = self.stage.read(core, at, line, done, &mut self.memory);
        (read, memory)
    }

    #[inline]
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask, why: Sent) -> Time {
        let bytes = if why.is_whole() { self.whole } else { bytes };
        if !S::ACTIVE {
            return self.memory.write(core, at, line, bytes, why);
        }
        self.arrives(Arrival {
            at,
            core,
            line,
            bytes,
            why,
        })
    }

    #[inline]
    fn hint(&mut self, core: u32, at: Time, hint: Hint) {
        if S::ACTIVE {
            self.stage.hint(core, at, hint, &mut self.memory);
        }
    }

    #[inline]
    fn ask(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.memory.ask(core, at, line)
    }

    #[inline]
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.memory.upgrade(core, at, line)
    }
}
