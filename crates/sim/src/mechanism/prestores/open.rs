//! The lines that runs of stores are in.

use crate::{ByteMask, Op};

/// Runs followed at once by a thread: more than the arrays that one loop writes side by side.
const RUNS: usize = 16;

/// A line that a rule's stores are in.
#[derive(Clone, Copy, Debug)]
struct Run {
    rule: u16,
    line: u64,
    /// Bytes of the line that were stored to.
    bytes: ByteMask,
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
    /// A store of `rule` to `bytes` of `line` at place `at`, `whole` being all of the line's. Answers
    /// the run that ends by it, with the place of its last store: the one that had to make room, or
    /// one that has written all of this line, so that the store begins to write it once more.
    pub(super) fn store(
        &mut self,
        rule: u16,
        (line, bytes, whole): (u64, ByteMask, ByteMask),
        at: usize,
        pre: Op,
    ) -> Option<(usize, Op)> {
        let mut run = Run {
            rule,
            line,
            bytes,
            last: at,
            pre,
        };
        let known = self
            .runs
            .iter()
            .rposition(|r| r.line == line && r.rule == rule);
        let left = match known {
            Some(i) => {
                let known = self.runs.remove(i);
                if known.bytes == whole {
                    Some((known.last, known.pre))
                } else {
                    run.bytes |= known.bytes;
                    None
                }
            }
            None if self.runs.len() == RUNS => {
                let oldest = self.runs.remove(0);
                Some((oldest.last, oldest.pre))
            }
            None => None,
        };
        self.runs.push(run);
        left
    }

    /// Takes out the runs whose last store lies more than `reach` operations before `now`.
    pub(super) fn older_than(&mut self, now: usize, reach: usize) -> Option<(usize, Op)> {
        let oldest = self.runs.first()?;
        if now - oldest.last <= reach {
            return None;
        }
        let oldest = self.runs.remove(0);
        Some((oldest.last, oldest.pre))
    }

    /// Takes out all runs.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (usize, Op)> + '_ {
        self.runs.drain(..).map(|r| (r.last, r.pre))
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
}
