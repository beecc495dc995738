//! What of a recording is simulated, and how.

use prestore_trace::container::Manifest;
use prestore_trace::{ProcessId, SiteId, ThreadId};

use crate::callers::Callers;

/// How to read a recording. The default takes all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Take what can be read of a damaged recording instead of refusing it. The trace must have
    /// been opened so too.
    pub lenient: bool,
    /// Only threads of these processes; `None`: of all.
    pub processes: Option<Vec<ProcessId>>,
    /// Only these threads; `None`: all.
    pub threads: Option<Vec<ThreadId>>,
    /// What becomes of instructions that were executed and not recorded; `None`: as
    /// [`Gaps::of`] the recording.
    pub gaps: Option<Gaps>,
    /// Leave out what a thread executed while it waited for another one, see
    /// [`crate::HandOffs`].
    pub waits: Waits,
    /// Sites of generic code (`memcpy`), each with a call that leads there: operations of the site
    /// reached through that call are told apart, see [`Options::site_from`].
    pub by_caller: Vec<(SiteId, SiteId)>,
    /// Bytes of a line of the simulated machine: where they are more than the recorded 64, flushes
    /// and demotes of the parts of a line become one, as the library would execute there. `None`:
    /// every one stays.
    pub line: Option<u64>,
    /// No load waits for the one that brings its address ([`prestore_sim::Op::after`]): any number of them are under way at
    /// once, also along lists and trees. So it is, too, where the recording does not have the program's instructions.
    pub independent_loads: bool,
    /// Keep what store operations write, for [`crate::TraceSource::stored`].
    pub values: bool,
}

impl Options {
    /// What operations of `site` reached through the call at `call` are called; `site` itself where
    /// [`Options::by_caller`] does not tell it apart.
    pub fn site_from(&self, site: SiteId, call: SiteId) -> SiteId {
        let callers = Callers::new(&self.by_caller);
        callers.alias(site, call).unwrap_or(site)
    }
}

/// What becomes of polls that did not succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waits {
    /// They are left out, with the instructions between them: how often a thread looked, and how
    /// long it slept between two looks, says something about the recording machine only.
    #[default]
    LeaveOut,
    /// They are executed, and the thread then waits for the hand-off all the same.
    Keep,
}

/// What becomes of instructions that were executed outside of the recording's scope or windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// They take time as instructions that do not touch memory do.
    Elapse,
    /// They did not happen: what comes behind a gap follows at once what was before it.
    LeaveOut,
}

impl Gaps {
    /// What fits the recording. The code left out of scope `functions` is executed between the
    /// chosen functions: its instructions elapse. The time between two windows is another part of
    /// the program, whose accesses are unknown: it is left out.
    pub fn of(manifest: &Manifest) -> Self {
        let windows = &manifest.info.windows;
        let windowed = windows.skip > 0 || windows.take.is_some() || windows.regions;
        if windowed {
            Self::LeaveOut
        } else {
            Self::Elapse
        }
    }
}
