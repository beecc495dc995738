//! A thread's ring and what it has told.

use prestore_trace::ProcessId;

use super::process::Process;
use crate::Stream;
use crate::channel::{RingReader, Tally};

/// A thread's ring and where it belongs.
pub(super) struct Ring {
    pub(super) reader: RingReader,
    pub(super) process: ProcessId,
    pub(super) stream: Stream,
    /// Instructions, as far as the taker counts.
    executed: u64,
}

impl Ring {
    pub(super) fn new(reader: RingReader, process: ProcessId, stream: Stream) -> Self {
        Self {
            reader,
            process,
            stream,
            executed: 0,
        }
    }

    /// What the thread recorded and skipped. One that never came to blocks that can be switched says nothing: it was
    /// recorded whole.
    pub(super) fn tally(&self) -> Tally {
        let told = self.reader.tally();
        let silent = told.recorded == 0 && told.skipped == 0;
        Tally {
            recorded: if silent { self.executed } else { told.recorded },
            ..told
        }
    }

    /// Tells the thread how far it and its `process` are, where it has `executed` so many instructions.
    pub(super) fn count(&mut self, executed: u64, process: &mut Process) {
        process.executed += executed.saturating_sub(self.executed);
        self.executed = executed;
        self.reader.tell(executed, process.executed);
    }
}
