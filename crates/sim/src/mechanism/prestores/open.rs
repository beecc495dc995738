//! The lines that runs of stores are in.

use prestore_trace::SiteId;

use super::gather::runs;
use crate::{ByteMask, Op, OpKind};

/// Runs followed at once by a thread: more than the arrays that one loop writes side by side.
const RUNS: usize = 16;

/// A line that a rule's stores are in.
#[derive(Clone, Copy, Debug)]
struct Run {
    rule: u16,
    line: u64,
    /// Bytes of the line that were stored to.
    bytes: ByteMask,
    /// Whose store began it.
    first: SiteId,
    /// Place of its last store.
    last: usize,
    /// What is to be done behind that.
    pre: Op,
}

/// At most [`RUNS`] runs, the one stored to longest ago first.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenLines {
    runs: Vec<Run>,
}

impl OpenLines {
    /// A store of `rule` to `bytes` of `line` at place `at`, `whole` being all of the line's. Adds the
    /// runs that end by it to `due`: one that had to make room, or one that has written all of this
    /// line, so that the instruction that began it begins to write it once more. (Another one's store
    /// is what `memcpy` does: the end of its loop and what follows overlap.)
    pub(super) fn store(
        &mut self,
        rule: u16,
        (line, bytes, whole): (u64, ByteMask, ByteMask),
        at: usize,
        pre: Op,
        due: &mut Vec<(usize, Op)>,
    ) {
        let mut run = Run {
            rule,
            line,
            bytes,
            first: pre.site,
            last: at,
            pre,
        };
        match self.find(rule, line) {
            Some(i) => {
                let known = self.runs.remove(i);
                if known.bytes == whole && known.first == run.first {
                    known.give(known.last, due);
                } else {
                    run.bytes |= known.bytes;
                    run.first = known.first;
                }
            }
            None if self.runs.len() == RUNS => self.end(0, due),
            None => {}
        }
        self.runs.push(run);
    }

    /// Adds the first run to `due`, if its last store lies more than `reach` operations before `now`.
    pub(super) fn leave_older(&mut self, now: usize, reach: usize, due: &mut Vec<(usize, Op)>) {
        if self.oldest().is_some_and(|oldest| now - oldest > reach) {
            self.end(0, due);
        }
    }

    /// A load of `bytes` of `line`: it makes what gathers of them around the caches go.
    pub(super) fn load(&mut self, line: u64, bytes: ByteMask, due: &mut Vec<(usize, Op)>) {
        let gathers =
            |r: &Run| r.line == line && r.bytes & bytes != 0 && r.pre.kind == OpKind::NtStore;
        if let Some(i) = self.runs.iter().position(gathers) {
            self.end(i, due);
        }
    }

    /// Adds all runs to `due`.
    pub(super) fn leave_all(&mut self, due: &mut Vec<(usize, Op)>) {
        while !self.runs.is_empty() {
            self.end(0, due);
        }
    }

    /// Place of the last store of the run stored to longest ago.
    pub(super) fn oldest(&self) -> Option<usize> {
        self.runs.first().map(|r| r.last)
    }

    /// Places are counted from `by` operations later on.
    pub(super) fn shift(&mut self, by: usize) {
        for run in &mut self.runs {
            run.last -= by;
        }
    }

    fn find(&self, rule: u16, line: u64) -> Option<usize> {
        let mut runs = self.runs.iter();
        runs.rposition(|r| r.line == line && r.rule == rule)
    }

    /// Run `i` ends. Neighbouring lines go in the order of their addresses, as those of one
    /// call for all of them: open ones below before it, open ones above not before it.
    fn end(&mut self, i: usize, due: &mut Vec<(usize, Op)>) {
        let Some(ended) = self.runs.get(i).copied() else {
            return;
        };
        let place = self.leave(i, due);
        let mut above = ended.line;
        while let Some(i) = above
            .checked_add(1)
            .and_then(|line| self.find(ended.rule, line))
        {
            above += 1;
            self.runs[i].last = self.runs[i].last.max(place);
        }
        self.runs.sort_by_key(|r| r.last);
    }

    /// Run `i` and those below it end; answers behind which place.
    fn leave(&mut self, i: usize, due: &mut Vec<(usize, Op)>) -> usize {
        let run = self.runs.remove(i);
        let below = (run.line.checked_sub(1)).and_then(|line| self.find(run.rule, line));
        let place = below.map_or(run.last, |i| self.leave(i, due).max(run.last));
        run.give(place, due);
        place
    }
}

impl Run {
    /// Adds what is to be done to `due`: for skip, a non-temporal store of what was written.
    fn give(&self, place: usize, due: &mut Vec<(usize, Op)>) {
        if self.pre.kind != OpKind::NtStore {
            return due.push((place, self.pre));
        }
        for (from, size) in runs(self.bytes) {
            let addr = self.pre.addr + u64::from(from);
            let piece = Op {
                addr,
                size,
                ..self.pre
            };
            due.push((place, piece));
        }
    }
}
