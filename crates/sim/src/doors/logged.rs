//! A log of what memory controllers accepted.

use prestore_trace::LineAddr;

use super::stage::{Accepted, Admission, Arrival, Stage};
use crate::memory::MemorySystem;
use crate::{Hint, Time};

/// Is told of each write when it is accepted. Calls come in the order in which parts of the simulation come to
/// them, which is nearly that of time: sort by [`Accepted::at`].
pub type AcceptanceLog<'a> = &'a dyn Fn(Accepted);

/// A stage, and a log of what is accepted behind it.
pub struct Logged<'a, S> {
    /// The stage.
    pub stage: S,
    /// The log, if there is one.
    pub log: Option<AcceptanceLog<'a>>,
}

impl<S: Stage> Stage for Logged<'_, S> {
    fn write(&mut self, arrival: &Arrival, memory: &mut MemorySystem) -> Admission {
        self.stage.write(arrival, memory)
    }

    fn read(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        done: Time,
        memory: &mut MemorySystem,
    ) -> Time {
        self.stage.read(core, at, line, done, memory)
    }

    fn accepted(&mut self, accepted: &Accepted) {
        self.stage.accepted(accepted);
        if let Some(log) = self.log {
            log(*accepted);
        }
    }

    fn hint(&mut self, core: u32, at: Time, hint: Hint, memory: &mut MemorySystem) {
        self.stage.hint(core, at, hint, memory);
    }
}
