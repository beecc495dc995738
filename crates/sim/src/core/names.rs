//! Which stores what is on its way to memory comes from, where somebody wants to know.

use std::collections::VecDeque;

use prestore_trace::{LineAddr, SiteId};
use rustc_hash::FxHashMap;

use super::flushes::StoreNumber;
use super::pipeline::Core;
use crate::{ByteMask, Stored};

/// The names of stores, kept beside them: the stores themselves stay small.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Where in the code the operation under way stands.
    pub site: SiteId,
    /// By their number in the store path; in a merging one that of the line they were merged into.
    stores: FxHashMap<StoreNumber, Vec<Stored>>,
    /// Non-temporal stores that have not left the core, the oldest first.
    leaving: VecDeque<Stored>,
    /// By the line that a write-combining buffer gathers.
    combined: FxHashMap<LineAddr, Vec<Stored>>,
}

impl Names {
    /// `stored` is part of store `number` of the store path.
    pub fn store(&mut self, number: StoreNumber, stored: Stored) {
        self.stores.entry(number).or_default().push(stored);
    }

    /// The stores that leave the store path as `number`.
    pub fn stored(&mut self, number: StoreNumber) -> Vec<Stored> {
        self.stores.remove(&number).unwrap_or_default()
    }

    /// A non-temporal store waits to leave.
    pub fn queue(&mut self, stored: Stored) {
        self.leaving.push_back(stored);
    }

    /// The one that leaves next, and leaves.
    pub fn leaves(&mut self) -> Option<Stored> {
        self.leaving.pop_front()
    }

    /// The one that leaves next goes to the write-combining buffer of `line`.
    pub fn combine(&mut self, line: LineAddr) {
        if let Some(stored) = self.leaving.pop_front() {
            self.combined.entry(line).or_default().push(stored);
        }
    }

    /// The stores of `line`'s write-combining buffer, which is sent.
    pub fn combined(&mut self, line: LineAddr) -> Vec<Stored> {
        self.combined.remove(&line).unwrap_or_default()
    }
}

impl Core {
    /// The name of the store under way, of `bytes` of a line.
    pub(super) fn name(&self, bytes: ByteMask) -> Stored {
        let ops = &self.results.ops;
        Stored {
            number: (ops.stores + ops.nt_stores + ops.atomics).saturating_sub(1),
            site: self.names.site,
            bytes,
        }
    }
}
