//! What store operations write, beside the operations.

use std::collections::VecDeque;

use prestore_sim::{Op, OpKind};
use prestore_trace::block::{Block, XsaveComponent};
use prestore_trace::content::Content;
use prestore_trace::replay::{Store, Stores};

use crate::space::Space;

/// The bytes of a core's store operations, each by its number among them.
#[derive(Debug, Default)]
pub(crate) struct StoredBytes {
    stores: Stores,
    /// From the operation that was asked for last on.
    entries: VecDeque<Entry>,
    /// Number of the first of them.
    first: u64,
    /// Entries of executions before the last.
    settled: usize,
}

#[derive(Debug)]
struct Entry {
    addr: u64,
    size: u64,
    /// As far as they are known, from the front.
    bytes: Vec<u8>,
}

impl StoredBytes {
    /// An execution has become `ops`.
    pub(crate) fn exec(
        &mut self,
        xsave: &[XsaveComponent],
        space: Space,
        block: &Block,
        values: &[u64],
        executed: u32,
        ops: &[Op],
    ) {
        self.settled = self.entries.len();
        let stores = ops
            .iter()
            .filter(|op| matches!(op.kind, OpKind::Store | OpKind::NtStore | OpKind::Atomic));
        self.entries.extend(stores.map(|op| Entry {
            addr: op.addr,
            size: u64::from(op.size),
            bytes: Vec::new(),
        }));
        let (stores, entries) = (&mut self.stores, self.entries.make_contiguous());
        let open = &mut entries[self.settled..];
        stores.exec(xsave, 0, block, values, executed, |s| fill(open, space, &s));
    }

    /// What the last execution has stored, in part.
    pub(crate) fn content(&mut self, space: Space, content: &Content<'_>) {
        let (stores, entries) = (&mut self.stores, self.entries.make_contiguous());
        let open = &mut entries[self.settled..];
        stores.content(content, |s| fill(open, space, &s));
    }

    /// Are there bytes still to come of operations that are there?
    pub(crate) fn awaits(&self) -> bool {
        self.stores.awaits()
    }

    /// The bytes of store `number`, where all of them are known; those before it are dropped.
    pub(crate) fn get(&mut self, number: u64) -> Option<&[u8]> {
        let before = number
            .checked_sub(self.first)?
            .min(self.entries.len() as u64);
        self.entries.drain(..before as usize);
        self.first += before;
        self.settled = self.settled.saturating_sub(before as usize);
        let entry = self.entries.front().filter(|_| self.first == number)?;
        (entry.bytes.len() as u64 == entry.size).then_some(&entry.bytes)
    }
}

/// Gives `s` to the first operation that lacks bytes there, and what is more than that to those behind it. One that was left out has none.
fn fill(open: &mut [Entry], space: Space, s: &Store<'_>) {
    let Some(data) = s.data else {
        return;
    };
    let words = data.iter().flat_map(|w| w.to_le_bytes());
    let mut bytes = words.chain(std::iter::repeat(0));
    let (mut addr, mut left) = (space.place(s.addr), s.len);
    for entry in open {
        let at = entry.addr.wrapping_add(entry.bytes.len() as u64);
        let lacks = entry.size - entry.bytes.len() as u64;
        if lacks == 0 || at != addr || left == 0 {
            continue;
        }
        let taken = lacks.min(left);
        entry.bytes.extend(bytes.by_ref().take(taken as usize));
        addr = addr.wrapping_add(taken);
        left -= taken;
    }
}
