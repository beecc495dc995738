//! Going to a stored block without reading what comes before it.

use crate::SourceError;
use crate::callers::Path;
use crate::cursor::Cursor;
use crate::dataflow::Carried;
use crate::lane::Lane;
use crate::sample::Entry;
use crate::source::{Current, TraceSource};
use crate::space::Space;

impl TraceSource<'_> {
    /// `core` goes on with stored block `to`, of whose thread `ops` operations come before. What it had begun
    /// is forgotten.
    pub(crate) fn seek(&mut self, core: usize, to: &Entry, ops: u64) -> Result<(), SourceError> {
        let core = &mut self.cores[core];
        let Some(&(thread, process)) = core.threads.get(to.thread) else {
            return Ok(());
        };
        core.begun = to.thread + 1;
        let marks = self.hand_offs.marks(thread);
        let start = (to.instrs, core.instrs);
        core.current = Some(Current {
            thread,
            process,
            cursor: Cursor::at_block(self.trace, thread, self.lenient, (to.block, to.instrs))?,
            lane: Lane::at(
                Space::of(process),
                self.gaps,
                marks,
                start,
                (to.events, ops),
            ),
            path: Path::default(),
        });
        Ok(())
    }

    /// From here on operations are told which loads of blocks before they wait for, those behind this point, or are not: it
    /// costs a seventh of what warms caches, which do not ask.
    pub(crate) fn depend(&mut self, depends: bool) {
        self.depends = depends;
        for current in self.cores.iter_mut().filter_map(|c| c.current.as_mut()) {
            current.lane.data = Carried::default();
        }
    }

    /// Which of its threads `core` is at, and how many operations of it were given.
    pub(crate) fn ops_of_thread(&self, core: usize) -> (usize, u64) {
        let core = &self.cores[core];
        match &core.current {
            Some(current) => (core.begun - 1, current.lane.kept),
            None => (core.begun, 0),
        }
    }

    /// Which of its threads `core` is at, and how many events of it have passed.
    pub(crate) fn events_of_thread(&self, core: usize) -> (usize, u64) {
        let core = &self.cores[core];
        match &core.current {
            Some(current) => (core.begun - 1, current.lane.events),
            // What waits for the start of the next one's creator does not come before it.
            None => (core.begun, 0),
        }
    }
}
