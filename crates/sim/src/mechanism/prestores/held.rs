//! Operations that are held back, and what a change adds before them.

use crate::{Op, OpKind};

/// An operation that is not given on yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub op: Op,
    /// Instructions of the change that are executed before it.
    pub extra: u32,
    /// Is it the change's?
    pub added: bool,
}

impl Held {
    /// One of the program's.
    pub fn own(op: Op) -> Self {
        Self {
            op,
            extra: 0,
            added: false,
        }
    }

    /// What stands in the place of a store that is gathered to go around the caches: a non-temporal
    /// store of no bytes, which is not given on.
    pub fn replaced(store: &Op) -> Self {
        Self::own(Op {
            kind: OpKind::NtStore,
            size: 0,
            ..*store
        })
    }

    pub fn is_replaced(&self) -> bool {
        self.op.kind == OpKind::NtStore && self.op.size == 0
    }
}
