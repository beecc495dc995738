//! Blocks that may take a lock or give it back.

use crate::access::{Access, Op};
use crate::batch::word;

/// What a block may do to a lock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lock {
    does: Does,
    slot: u16,
    disp: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Does {
    #[default]
    Nothing,
    /// An atomic, its only write.
    Takes,
    /// A store of a word, its only write.
    GivesBack,
}

impl Lock {
    pub(crate) fn of(accesses: &[Access]) -> Self {
        let mut writes = accesses
            .iter()
            .filter(|a| a.kind.writes() || a.op == Op::Flush);
        let (Some(only), None) = (writes.next(), writes.next()) else {
            return Self::default();
        };
        let does = match only.op {
            Op::Atomic => Does::Takes,
            Op::Store if only.size <= 8 => Does::GivesBack,
            _ => Does::Nothing,
        };
        Self {
            does,
            slot: only.slot,
            disp: only.disp,
        }
    }

    /// May the block take one or give it back at all?
    pub(crate) fn is_any(self) -> bool {
        self.does != Does::Nothing
    }

    /// Where the lock is that the block takes, if it does.
    pub(crate) fn taken(self, values: &[u64]) -> Option<u64> {
        (self.does == Does::Takes).then(|| self.at(values))
    }

    /// Is all that the block writes the lock at `taken`?
    pub(crate) fn gives_back(self, values: &[u64], taken: u64) -> bool {
        self.does == Does::GivesBack && self.at(values) == taken
    }

    fn at(self, values: &[u64]) -> u64 {
        word(values, self.slot).wrapping_add(self.disp)
    }
}
