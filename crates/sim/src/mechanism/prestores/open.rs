//! The lines that runs of stores are in.

use crate::Op;

/// Runs followed at once by a thread: more than the arrays that one loop writes side by side.
const RUNS: usize = 16;

/// A line that a rule's stores are in.
#[derive(Clone, Copy, Debug)]
struct Run {
    rule: u16,
    line: u64,
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
    /// A store of `rule` to `line` at place `at`. Answers the run that had to make room, with the
    /// place of its last store.
    pub(super) fn store(
        &mut self,
        rule: u16,
        line: u64,
        at: usize,
        pre: Op,
    ) -> Option<(usize, Op)> {
        let run = Run {
            rule,
            line,
            last: at,
            pre,
        };
        let known = self
            .runs
            .iter()
            .rposition(|r| r.line == line && r.rule == rule);
        let left = match known {
            Some(i) => {
                self.runs.remove(i);
                None
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
