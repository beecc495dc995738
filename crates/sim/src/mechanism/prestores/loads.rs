//! Which load is which, where a change has loads of its own.

use crate::{Op, OpKind};

/// Loads back that [`Op::after`] is followed: more than a reorder window has. What is farther back is there.
const REACH: usize = 1024;

/// Counts a thread's loads, so that [`Op::after`] still means the same load when others were put between.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The program's, so far.
    own: usize,
    /// All that were given on.
    all: usize,
    /// Which of all the program's last ones were, by their number modulo [`REACH`].
    which: Vec<usize>,
}

impl Loads {
    /// The next operation, with the load of the program that it waits for as it is counted now.
    pub fn count(&mut self, op: Op, added: bool) -> Op {
        let after = match usize::from(op.after) {
            0 => 0,
            // None was put between.
            back if self.own == self.all => back,
            back => self.now(back),
        };
        if op.kind == OpKind::Load && added {
            self.all += 1;
        } else if op.kind == OpKind::Load {
            let at = self.own % REACH;
            self.which.resize(self.which.len().max(at + 1), 0);
            self.which[at] = self.all;
            self.own += 1;
            self.all += 1;
        }
        Op {
            after: after as u16,
            ..op
        }
    }

    /// The program's load so many of its loads back; 0: it is too far back.
    fn now(&self, back: usize) -> usize {
        let known = (self.own.checked_sub(back)).filter(|_| back <= REACH);
        let which = known.and_then(|load| self.which.get(load % REACH));
        let now = which.map_or(0, |which| self.all - which);
        if now > REACH { 0 } else { now }
    }
}
