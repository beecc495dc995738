//! Long runs, of which parts are looked at.
//!
//! A run is divided into windows of so many instructions. How long it will be nobody knows, so it is
//! analysed several times at once: from all windows, from one of four, from one of sixteen, and so on. The
//! recorder leaves out windows only when the run has become so long that the analysis of as many would take
//! too long; the analysis of all windows ends there, and the next one goes on, which has looked at the same
//! share of all that came before. So no part of a run weighs more than another, and a short one is analysed
//! whole.
//!
//! What is written at the end of a window and read again behind it is not seen to be read: a share of the
//! lines as large as what is near a core is of what a window writes and reads.

use std::collections::VecDeque;

use prestore_trace::block::BlockTable;
use prestore_trace::replay::ReplayError;
use prestore_trace::{ProcessId, SiteTable, ThreadId};

use crate::analyzer::{Analyzer, Outcome};
use crate::oracle::SiteOracle;

/// Analyses of one run, by the share of its windows that they take in.
#[derive(Debug)]
pub struct Bursts<O> {
    /// Of the most windows.
    densest: Analyzer<O>,
    /// Of fewer and fewer.
    thinner: VecDeque<Analyzer<O>>,
    /// The window from which on some are not recorded that the densest would take.
    dense: u64,
}

/// How much of a run was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// One of so many windows.
    pub every: u64,
    /// Windows that were looked at, of the longest process.
    pub windows: u64,
}

impl<O: SiteOracle> Bursts<O> {
    /// `analysis` makes one that is to have the whole run. Windows are recorded as
    /// [`Special::Window`](prestore_trace::record::Special::Window) says: all before the window `dense` (a multiple of 4), one of
    /// four before the window `4 * dense`, and so on down to one of `thinnest` (a power of four; 1: all).
    pub fn new(dense: u64, thinnest: u64, mut analysis: impl FnMut() -> Analyzer<O>) -> Self {
        let all = std::iter::successors(Some(4), |e: &u64| e.checked_mul(4));
        let every = all.take_while(|e| *e <= thinnest);
        Self {
            densest: analysis(),
            thinner: every.map(|e| analysis().with_every(e)).collect(),
            dense,
        }
    }

    /// As [`Analyzer::feed`].
    ///
    /// # Errors
    /// As [`Analyzer::feed`].
    pub fn feed(
        &mut self,
        process: ProcessId,
        thread: ThreadId,
        table: &BlockTable,
        sites: &mut SiteTable,
        words: &[u64],
    ) -> Result<usize, ReplayError> {
        let taken = self.densest.feed(process, thread, table, sites, words)?;
        for analysis in &mut self.thinner {
            analysis.feed(process, thread, table, sites, words)?;
        }
        while self.densest.windows().furthest >= self.dense
            && let Some(next) = self.thinner.pop_front()
        {
            self.densest = next;
            self.dense = self.dense.saturating_mul(4);
        }
        Ok(taken)
    }

    /// As [`Analyzer::end`].
    pub fn end(&mut self, process: ProcessId) {
        self.densest.end(process);
        for analysis in &mut self.thinner {
            analysis.end(process);
        }
    }

    /// As [`Analyzer::end_thread`].
    pub fn end_thread(&mut self, process: ProcessId, thread: ThreadId) {
        self.densest.end_thread(process, thread);
        for analysis in &mut self.thinner {
            analysis.end_thread(process, thread);
        }
    }

    /// Ends the analysis.
    pub fn finish(self) -> (Outcome<O>, Seen) {
        let windows = self.densest.windows();
        let seen = Seen {
            every: windows.every(),
            windows: windows.taken,
        };
        let mut outcome = self.densest.finish();
        if seen.every == 1 {
            for finding in &mut outcome.findings.findings {
                finding.stretches = 0;
            }
        }
        (outcome, seen)
    }
}
