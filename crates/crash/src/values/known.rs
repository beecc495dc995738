//! What one thread's stores have written, as far as it has come.

use std::collections::VecDeque;

use prestore_trace::SiteId;
use prestore_trace::block::{Block, XsaveComponent};
use prestore_trace::content::Content;
use prestore_trace::replay::{Store, Stores};

use super::bytes_of;
use crate::finding::First;

/// A store whose bytes come behind its execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) site: SiteId,
    pub(super) first: First,
    /// It goes around the caches.
    pub(super) around: bool,
}

/// The bytes of the execution that is looked at.
#[derive(Debug, Default)]
pub(super) struct Known {
    stores: Stores,
    bytes: VecDeque<(u64, u64, Vec<u8>)>,
    awaited: Vec<Awaited>,
    /// What memory held that belonged to no image when it was told.
    images: Vec<(u64, Vec<u8>)>,
    /// Stores of which nothing will come any more.
    pub(super) lost: u64,
}

impl Known {
    pub(super) fn exec(
        &mut self,
        xsave: &[XsaveComponent],
        (before, executed): (u64, u32),
        block: &Block,
        values: &[u64],
        matters: impl Fn(u64, u64) -> bool,
    ) {
        self.bytes.clear();
        self.images.clear();
        let (all, awaited, lost) = (&mut self.bytes, &self.awaited, &mut self.lost);
        (self.stores).exec(xsave, before, block, values, executed, |s| {
            if !matters(s.addr, s.len) {
                return;
            }
            match bytes(&s) {
                Some(bytes) => all.push_back((s.instr, s.addr, bytes)),
                None if awaited.iter().any(|a| a.site == s.site) => *lost += 1,
                None => {}
            }
        });
        self.awaited.clear();
    }

    /// The bytes that `instr` has stored at `addr`.
    pub(super) fn take(&mut self, instr: u64, addr: u64, size: u64) -> Option<Vec<u8>> {
        let is = |(i, a, bytes): &(u64, u64, Vec<u8>)| {
            (*i, *a, bytes.len() as u64) == (instr, addr, size)
        };
        let found = self.bytes.iter().position(is)?;
        self.bytes.drain(..found);
        self.bytes.pop_front().map(|b| b.2)
    }

    /// Nothing has come of a store yet.
    pub(super) fn awaited(&mut self, site: SiteId, first: First, around: bool) {
        self.awaited.push(Awaited {
            site,
            first,
            around,
        });
    }

    /// What comes behind the execution: of which store, address, bytes.
    pub(super) fn content(&mut self, content: &Content<'_>) -> Vec<(Awaited, u64, Vec<u8>)> {
        let (mut come, awaited, lost) = (Vec::new(), &self.awaited, &mut self.lost);
        self.stores.content(content, |s| {
            // What is no image's is not awaited here.
            let Some(of) = awaited.iter().find(|a| a.site == s.site) else {
                return;
            };
            match bytes(&s) {
                Some(bytes) => come.push((*of, s.addr, bytes)),
                None => *lost += 1,
            }
        });
        come
    }

    /// Memory held `content`, of which nobody knows yet that it is an image's.
    pub(super) fn image(&mut self, content: &Content<'_>) {
        if !content.data.is_empty() {
            let bytes = bytes_of(content.data, content.len);
            self.images.push((content.addr, bytes));
        }
    }

    /// What memory held, by address, since the thread's last execution.
    pub(super) fn images(&self) -> &[(u64, Vec<u8>)] {
        &self.images
    }
}

fn bytes(store: &Store<'_>) -> Option<Vec<u8>> {
    store.data.map(|data| bytes_of(data, store.len))
}
